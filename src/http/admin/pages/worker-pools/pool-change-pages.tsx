import type { WorkerNow } from '../../../../application/worker-pools/workers.ts';
import type { WorkerPoolView } from '../../../../projections/worker-pools/worker-pool-view.ts';
import type { Page } from '../page.ts';
import { askingPage } from '../parts/asking.tsx';
import { Field, Form, type FormErrors, TextArea } from '../parts/form.tsx';
import { countOf } from '../parts/text.tsx';
import { addressOf, LIST, NEW, PATH } from './pool-parts.tsx';

const ROWS = 24;

/** What is wrong with a document, field by field, for the head of its form; what is about a field of the form stays with it. */
function documentErrors(errors: FormErrors): FormErrors {
  const { '': whole, name, ...fields } = errors;
  const lines = Object.entries(fields).map(([field, because]) => `${field}: ${because}`);
  const head = [...(whole === undefined ? [] : [whole]), ...lines].join(' ');
  return { ...(name === undefined ? {} : { name }), ...(head === '' ? {} : { '': head }) };
}

/** A pool that is to be, as a document; `accounts` are the provider accounts that it may name. */
export function newPoolPage({
  name,
  document,
  accounts,
  errors,
}: Readonly<{ name: string; document: string; accounts: readonly string[]; errors: FormErrors }>): Page {
  const known =
    accounts.length === 0
      ? 'There is no provider account yet: “edgeward asset create” or the administration API makes one.'
      : `Provider accounts: ${accounts.join(', ')}.`;
  return {
    title: 'New worker pool',
    crumbs: [LIST],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <Form action={NEW} errors={documentErrors(errors)} submit="Create pool" cancel={PATH}>
        <Field name="name" label="Name" value={name} errors={errors} isRequired />
        <TextArea
          name="document"
          label="The pool as JSON"
          value={document}
          hint={`Fields that are left out have their defaults. ${known}`}
          errors={{}}
          rows={ROWS}
        />
      </Form>
    ),
  };
}

/** A pool's document, to be changed. */
export function poolEditPage({
  name,
  document,
  seen,
  errors,
}: Readonly<{
  name: string;
  document: string;
  /** What the pool was when the form was first shown. */
  seen: string;
  errors: FormErrors;
}>): Page {
  const { name: renamed, ...fields } = errors;
  return {
    title: `Edit ${name}`,
    crumbs: [LIST, { name, href: addressOf(name) }],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    body: (
      <Form
        action={`${addressOf(name)}/edit`}
        errors={documentErrors({ ...fields, ...(renamed === undefined ? {} : { '': `name: ${renamed}` }) })}
        submit="Save"
        cancel={addressOf(name)}
      >
        <input type="hidden" name="seen" value={seen} />
        <TextArea
          name="document"
          label="The pool as JSON"
          value={document}
          hint="Fields that are left out, or left as they are here, stay as they are."
          errors={{}}
          rows={ROWS}
        />
      </Form>
    ),
  };
}

/** Asks once more before a pool is deleted, with what goes with it. */
export function deletePoolPage({ record: { name }, scopes, active }: WorkerPoolView): Page {
  const many = active.length;
  return {
    title: `Delete ${name}`,
    crumbs: [LIST, { name, href: addressOf(name) }],
    body: (
      <>
        <p>
          {scopes.length === 0
            ? 'No scope uses it.'
            : `It is taken from ${countOf(scopes.length, 'scope')}: ${scopes.join(', ')}.`}
        </p>
        <p>
          {many === 0
            ? 'No worker of it runs.'
            : `${countOf(many, 'worker')} of it ${many === 1 ? 'runs and is' : 'run and are'} ended at once, whatever ${many === 1 ? 'it does' : 'they do'}; the work is queued again.`}
        </p>
        <p>What it has used stays in the accounts of the months.</p>
        <Form
          action={`${addressOf(name)}/delete`}
          errors={{}}
          submit={many === 0 ? `Delete ${name}` : `End ${countOf(many, 'worker')} and delete ${name}`}
          cancel={addressOf(name)}
          isDangerous
        >
          {many === 0 ? null : <input type="hidden" name="force" value="true" />}
        </Form>
      </>
    ),
  };
}

/** Asks once more before a worker takes no more work. */
export function endLaterPage({ pool, view }: Readonly<{ pool: string; view: WorkerNow['view'] }>): Page {
  const { worker, task } = view;
  return askingPage({
    title: `End ${worker} after its task`,
    crumbs: [LIST, { name: pool, href: addressOf(pool) }],
    says: [
      task === null
        ? 'It runs no task: its instance is ended now at the provider.'
        : `It runs the task ${task.task} of ${task.scope}, and takes no other one. Once that is over, its instance is ended at the provider.`,
      'Nothing of the instance is left. Where work waits, another one may be launched.',
    ],
    action: `${addressOf(pool)}/workers/${encodeURIComponent(worker)}/terminate`,
    submit: 'End after its task',
    cancel: addressOf(pool),
  });
}

/** Asks once more before an instance is ended, with what is lost. */
export function endWorkerPage({ pool, view }: Readonly<{ pool: string; view: WorkerNow['view'] }>): Page {
  const { worker, task } = view;
  return {
    title: `End ${worker} now`,
    crumbs: [LIST, { name: pool, href: addressOf(pool) }],
    body: (
      <>
        <p>
          {task === null
            ? 'It runs no task.'
            : `It runs the task ${task.task} of ${task.scope}: that is broken off and queued again.`}
        </p>
        <p>Its instance is ended at the provider; nothing of it is left.</p>
        <Form
          action={`${addressOf(pool)}/workers/${encodeURIComponent(worker)}/end`}
          errors={{}}
          submit="End now"
          cancel={addressOf(pool)}
          isDangerous
        />
      </>
    ),
  };
}
