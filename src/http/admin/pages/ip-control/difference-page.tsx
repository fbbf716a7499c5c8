import type { JSX } from 'preact';
import type { ListDifference, RouterDifference } from '../../../../application/ip-control/commit-difference.ts';
import type { Page } from '../page.ts';
import { Badge, Note } from '../parts/badge.tsx';
import { Choice, Field, type FormErrors } from '../parts/form.tsx';
import { Code, count, countOf } from '../parts/text.tsx';
import { COMMITS } from './commit-page.tsx';
import { RunButton } from './run-button.tsx';

/** More prefixes than these are counted and not shown. */
const PREFIXES_MAX = 200;

export type DifferencePageView = Readonly<{
  values: Readonly<Record<'customer' | 'region' | 'list', string>>;
  regions: readonly string[];
  lists: readonly string[];
  errors: FormErrors;
  /** What was found, where a list was named. */
  found: Readonly<{ difference: ListDifference; of: Parameters<typeof RunButton>[0]['of'] }> | undefined;
  mayRun: boolean;
}>;

/** What a commit of one list would change on each router now, from what the routers really hold. */
export function differencePage(view: DifferencePageView): Page {
  const { found, errors } = view;
  return {
    title: 'Difference now',
    crumbs: [COMMITS],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <>
        <Question {...view} />
        {errors[''] === undefined ? null : <Note state="bad">{errors['']}</Note>}
        {found === undefined ? (
          <p class="dim">Routers are asked for what they hold, and nothing is changed by looking.</p>
        ) : (
          <Answer {...view} found={found} />
        )}
      </>
    ),
  };
}

function Question({ values, regions, lists, errors }: DifferencePageView): JSX.Element {
  return (
    <form class="form" method="get" action="/admin/commits/diff">
      <Field name="customer" label="Customer" value={values.customer} errors={errors} isRequired />
      <Choice name="region" label="Region" value={values.region} options={options(regions)} errors={errors} />
      <Choice name="list" label="List" value={values.list} options={options(lists)} errors={errors} />
      <p class="actions">
        <button>Compare</button>
      </p>
    </form>
  );
}

/** As a choice has them. */
function options(texts: readonly string[]) {
  return texts.map((text) => ({ value: text, text }));
}

function Answer({
  found: { difference, of },
  mayRun,
}: Pick<DifferencePageView, 'mayRun'> & Readonly<{ found: NonNullable<DifferencePageView['found']> }>): JSX.Element {
  const { list, region, prefixes, routers } = difference;
  const changes = routers.some(({ added, removed }) => added.length + removed.length > 0);
  return (
    <>
      <h2>
        {list} in {region}
      </h2>
      <p>Every router is to hold {countOf(prefixes, 'block')}.</p>
      {routers.length === 0 ? <p class="empty">The region has no routers.</p> : null}
      {routers.map((router) => (
        <RouterPart key={router.router} router={router} />
      ))}
      {changes && mayRun ? <RunButton of={of} label="Deploy now" /> : null}
    </>
  );
}

function RouterPart({ router }: Readonly<{ router: RouterDifference }>): JSX.Element {
  const { router: name, added, removed, kept, problem, disabled } = router;
  const isSame = added.length + removed.length === 0 && problem === undefined && disabled !== true;
  return (
    <section aria-label={name}>
      <h3>
        {name}{' '}
        {problem !== undefined ? (
          <Badge state="bad">could not be compared</Badge>
        ) : disabled === true ? (
          <Badge state="off">disabled</Badge>
        ) : isSame ? (
          <Badge state="ok">as it should be</Badge>
        ) : (
          <Badge state="busy">{`${count(added.length)} to come, ${count(removed.length)} to go`}</Badge>
        )}
      </h3>
      {problem === undefined ? null : <p>{problem}</p>}
      {kept === undefined ? null : (
        <p>{countOf(kept, 'block')} would be kept, as the restored log does not explain them.</p>
      )}
      <Prefixes sign="+" prefixes={added} />
      <Prefixes sign="−" prefixes={removed} />
    </section>
  );
}

function Prefixes({ sign, prefixes }: Readonly<{ sign: string; prefixes: readonly string[] }>): JSX.Element | null {
  if (prefixes.length === 0) return null;
  const more = prefixes.length - PREFIXES_MAX;
  return (
    <ul class="prefixes">
      {prefixes.slice(0, PREFIXES_MAX).map((prefix) => (
        <li key={prefix}>
          <Code>{`${sign} ${prefix}`}</Code>
        </li>
      ))}
      {more > 0 ? <li class="dim">and {count(more)} more</li> : null}
    </ul>
  );
}
