import type { Temporal } from '@js-temporal/polyfill';
import type { JSX } from 'preact';
import type { Review } from '../../../../application/ip-control/review-queue.ts';
import type { Crumb, Message, Page } from '../page.ts';
import { Badge, Note, type State } from '../parts/badge.tsx';
import { Facts } from '../parts/facts.tsx';
import { ActionButton, Field, Form, type FormErrors } from '../parts/form.tsx';
import { Live } from '../parts/live.tsx';
import { Table } from '../parts/table.tsx';
import { Code, count, countOf, exact, When } from '../parts/text.tsx';
import { reviewColumns, StageBadge } from './review-list.tsx';

const LIST: Crumb = { name: 'Whitelist review', href: '/admin/whitelist' };

/** Reasons that come up again and again; each can be edited before it is sent. */
const REASONS = [
  'The evidence does not show that these addresses are yours.',
  'The evidence can not be read: please send it again.',
  'The evidence is out of date: please send a current one.',
  'The evidence covers fewer addresses than were asked for.',
];

export type ReviewPageView = Readonly<{
  review: Review;
  now: Temporal.Instant;
  mayDecide: boolean;
  maySeeEvidence: boolean;
  /** A template of a registry's pages, with `{cidr}` in it. */
  lookupUrl: string | undefined;
  reason: string;
  errors: FormErrors;
  status?: number;
  /** What became of a decision that came too late. */
  tooLate?: Message;
}>;

/** One request with its evidence beside it, and the decision. */
export function reviewPage(view: ReviewPageView): Page {
  const { review, status, tooLate } = view;
  const { request } = review.row;
  const at = `/admin/whitelist/${request.requestId}`;
  const standing = <Standing {...view} />;
  return {
    title: request.input,
    crumbs: [LIST],
    ...(status === undefined ? {} : { status }),
    parts: { standing },
    body: (
      <>
        {tooLate === undefined ? null : <Note state={tooLate.kind}>{tooLate.text}</Note>}
        <p class="pager">
          {review.previous === undefined ? null : (
            <a href={`/admin/whitelist/${review.previous}`} rel="prev" data-press="k">
              Before it in the queue
            </a>
          )}
          {review.next === undefined ? null : (
            <a href={`/admin/whitelist/${review.next}`} rel="next" data-press="j">
              Next in the queue
            </a>
          )}
        </p>
        <div class="columns">
          <section>
            <h2>Request</h2>
            <Live id="standing" topic={`customer:${request.customerId}`} at={at}>
              {standing}
            </Live>
            <Asked {...view} />
            {view.mayDecide && review.row.stage === 'waiting' ? <Decision at={at} view={view} /> : null}
          </section>
          <section>
            <h2>Evidence</h2>
            <EvidenceShown {...view} />
          </section>
        </div>
        <Related {...view} />
      </>
    ),
  };
}

const PROGRESS: Readonly<Record<string, readonly [State, string]>> = {
  waiting: ['busy', 'goes out with the next commit'],
  deploying: ['busy', 'being deployed'],
  failed: ['bad', 'deployment failed'],
  retrying: ['bad', 'deployment failed, being tried again'],
  active: ['ok', 'on all routers'],
};

function Standing({ review: { row, shown }, now }: ReviewPageView): JSX.Element {
  const { decided, removed, autoApproved } = row.request;
  return (
    <>
      <p>
        <StageBadge stage={row.stage} />{' '}
        {removed !== null ? (
          <Deed verb="Removed" deed={removed} now={now} />
        ) : decided !== null ? (
          <Deed verb={decided.outcome === 'approved' ? 'Approved' : 'Rejected'} deed={decided} now={now} />
        ) : autoApproved ? (
          'without a review: the customer is trusted.'
        ) : null}
      </p>
      {decided?.outcome === 'rejected' ? <p>Reason: {decided.reason}</p> : null}
      {shown.regions
        .filter(({ deployment }) => deployment !== null)
        .map(({ name, deployment }) => {
          const [state, word] = PROGRESS[deployment ?? ''] ?? ['off', ''];
          return (
            <p key={name}>
              {name}: <Badge state={state}>{word}</Badge>
            </p>
          );
        })}
    </>
  );
}

function Deed({
  verb,
  deed: { at, by },
  now,
}: Readonly<{ verb: string; deed: Readonly<{ at: string; by: string }>; now: Temporal.Instant }>): JSX.Element {
  return (
    <>
      {verb} by <Code>{by}</Code>, <When at={at} now={now} /> ({exact(at)}).
    </>
  );
}

function Asked({ review: { row, entries }, now, lookupUrl }: ReviewPageView): JSX.Element {
  const { request, customer, regions, addresses } = row;
  return (
    <Facts
      facts={[
        ['Customer', <a href={`/admin/customers/${request.customerId}`}>{customer}</a>],
        ['Asked for', <Code>{request.input}</Code>],
        ['Prefixes', <Code>{request.prefixes.join(', ')}</Code>],
        ['Addresses', count(addresses)],
        ['Regions', regions.join(', ')],
        ['Submitted', <Deed verb="" deed={request.submitted} now={now} />],
        ['Requests in use', entries === undefined ? '–' : `${count(entries.used)} of ${count(entries.limit)}`],
        ...(lookupUrl === undefined
          ? []
          : [['Registry', <Lookups template={lookupUrl} prefixes={request.prefixes} />] as const]),
        ['Number', <Code>{request.requestId}</Code>],
      ]}
    />
  );
}

function Lookups({ template, prefixes }: Readonly<{ template: string; prefixes: readonly string[] }>): JSX.Element {
  return (
    <>
      {prefixes.map((prefix) => (
        <>
          <a key={prefix} href={template.replaceAll('{cidr}', encodeURIComponent(prefix))} rel="noreferrer noopener">
            {prefix}
          </a>{' '}
        </>
      ))}
    </>
  );
}

function Decision({ at, view }: Readonly<{ at: string; view: ReviewPageView }>): JSX.Element {
  const { errors, reason } = view;
  return (
    <>
      <h2>Decision</h2>
      <ActionButton action={`${at}/approve`} id="approve" label="Approve" press="a" />
      <p class="hint">It goes out with the next commit of its regions.</p>
      <Form action={`${at}/reject`} errors={errors} submit="Reject" isDangerous>
        <Field
          name="reason"
          label="Reason"
          value={reason}
          errors={errors}
          hint="For the record: customers see that a request was rejected, not why."
          isRequired
          more={{ list: 'reasons', maxlength: 500, 'data-press': 'r' }}
        />
        <datalist id="reasons">
          {REASONS.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      </Form>
    </>
  );
}

function EvidenceShown({ review, maySeeEvidence }: ReviewPageView): JSX.Element {
  const { requestId, evidence } = review.row.request;
  const at = `/admin/whitelist/${requestId}/evidence`;
  return (
    <>
      <Facts
        facts={[
          ['File', maySeeEvidence ? <a href={at}>{evidence.fileName}</a> : evidence.fileName],
          ['Kind', evidence.mediaType],
          ['Size', countOf(evidence.bytes, 'byte')],
          ['SHA-256', <Code>{evidence.sha256}</Code>],
        ]}
      />
      {!maySeeEvidence ? (
        <p class="dim">Your role does not show what the file holds: this needs the scope evidence:read.</p>
      ) : evidence.mediaType === 'application/pdf' ? (
        <iframe
          class="evidence"
          sandbox="allow-scripts"
          src="/admin/evidence-viewer"
          title={`Evidence: ${evidence.fileName}`}
          data-pdf={at}
        />
      ) : (
        <img class="evidence" src={at} alt={`Evidence: ${evidence.fileName}. If it is not shown, download it.`} />
      )}
    </>
  );
}

function Related({ review: { ofOthers, ofSame, row }, now }: ReviewPageView): JSX.Element {
  const columns = reviewColumns(now);
  return (
    <>
      <h2>The same addresses with other customers</h2>
      <Table
        caption="The same addresses with other customers"
        columns={columns}
        rows={ofOthers}
        keyOf={({ request }) => request.requestId}
        empty="No other customer has or asks for any of these addresses."
      />
      <h2>Other requests of {row.customer} for them</h2>
      <Table
        caption="Other requests of the same customer"
        columns={columns}
        rows={ofSame}
        keyOf={({ request }) => request.requestId}
        empty="This customer has asked for none of these addresses before."
      />
    </>
  );
}
