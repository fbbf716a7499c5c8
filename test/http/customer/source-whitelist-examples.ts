import { z } from 'zod';
import type { ApiClient, Answer } from '../../support/http/api-client.ts';
import { type FormPart, formBody, pdf } from '../../support/http/multipart-form.ts';

/** What a submission is made of when nothing else is said: one file of evidence. */
export type SubmissionForm = Readonly<{
  ip?: string;
  range?: readonly [start: string, end: string];
  cidr?: string;
  regions?: readonly (number | string)[];
  evidence?: Buffer;
  fileName?: string;
}>;

/** The parts of a submission, fields first. */
export function submissionParts({
  ip,
  range,
  cidr,
  regions = [1],
  evidence = pdf(),
  fileName = 'evidence.pdf',
}: SubmissionForm): readonly FormPart[] {
  return [
    ...(ip === undefined ? [] : [{ name: 'ip', value: ip }]),
    ...(range === undefined
      ? []
      : [
          { name: 'range[start]', value: range[0] },
          { name: 'range[end]', value: range[1] },
        ]),
    ...(cidr === undefined ? [] : [{ name: 'cidr', value: cidr }]),
    ...regions.map((region) => ({ name: 'regions[]', value: String(region) })),
    { name: 'evidence', file: evidence, fileName },
  ];
}

export function submitForm(api: ApiClient, form: SubmissionForm): Promise<Answer> {
  return api.send('/source-whitelist', formBody(submissionParts(form)));
}

const requestSchema = z.strictObject({
  request_id: z.uuid(),
  input: z.string(),
  regions: z.array(z.string()),
  status: z.enum(['pending_review', 'pending_deploy', 'active', 'rejected', 'failed']),
  auto_approved: z.boolean(),
});

const meta = z.strictObject({ used: z.int(), limit: z.int() });

/** The answer of a submission, and nothing besides. */
export function submissionOf({ json }: Answer) {
  return z.strictObject({ data: requestSchema, meta }).parse(json);
}

/** The list, and nothing besides. */
export async function listedRequests(api: ApiClient) {
  const listed = requestSchema.extend({ created_at: z.iso.datetime({ offset: true }) });
  return z.strictObject({ data: z.array(listed), meta }).parse((await api.get('/source-whitelist')).json);
}
