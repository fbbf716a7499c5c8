import { extname } from 'node:path';
import { fileTypeFromBuffer } from 'file-type';
import { z } from 'zod';
import { isAddressProblem } from '../../addresses/address-problem.ts';
import { type AddressRange, rangeBetween, rangeOfAddress } from '../../addresses/range.ts';
import { type Address, parseAddress } from '../../addresses/address.ts';
import { parseCidr, rangeOfCidr } from '../../addresses/cidr.ts';
import { type Grounds, groundsFields } from '../../domain/grounds.ts';
import type { EvidenceMediaType } from '../../events/ip-control/source-whitelist.ts';
import type { UploadedFile, UploadForm } from '../middleware/uploads.ts';

/** What the text fields of a submission say. */
export type WhitelistFields = Readonly<{
  /** As it was sent; a range with a dash between its ends. */
  input: string;
  range: AddressRange;
  /** In the order in which they were sent, each once. */
  regions: readonly Readonly<{ regionId: number; name: string }>[];
}>;

type Fields = ReadonlyMap<string, readonly string[]>;
type FindRegion = (text: string) => Promise<Readonly<{ regionId: number; name: string }> | undefined>;
type Report = (field: string, message: string) => void;

const REGIONS_MAX = 100;

/** The form of `POST /source-whitelist`, as it is sent: exactly one of `ip`, `range` and `cidr`. */
export const submissionForm = z.strictObject({
  ip: z.ipv4().optional(),
  'range[start]': z.ipv4().optional(),
  'range[end]': z.ipv4().optional(),
  cidr: z.cidrv4().optional(),
  /** Numbers or names. */
  'regions[]': z.array(z.string()).min(1).max(REGIONS_MAX),
  ...groundsFields,
  evidence: z.file().mime(['image/jpeg', 'image/png', 'application/pdf']),
});

/** How it is received. */
export function whitelistForm(fileBytesMax: number): UploadForm {
  return {
    fields: {
      ip: 'once',
      'range[start]': 'once',
      'range[end]': 'once',
      cidr: 'once',
      'regions[]': 'repeated',
      reason: 'once',
      ticket: 'once',
    },
    fieldsMax: REGIONS_MAX + 6,
    file: 'evidence',
    fileBytesMax,
  };
}

/** Reads the text fields; `undefined` when something was reported. `find` gives the region that a text names. */
export async function whitelistFields(
  fields: Fields,
  find: FindRegion,
  report: Report,
): Promise<WhitelistFields | undefined> {
  const addresses = addressesOf(fields, report);
  const regions = await regionsOf(fields.get('regions[]') ?? [], find, report);
  return addresses === undefined || regions === undefined ? undefined : { ...addresses, regions };
}

/** Why the addresses are to be accepted, where that is said. */
export function whitelistGrounds(fields: Fields, report: Report): Grounds {
  const [reason] = fields.get('reason') ?? [];
  const [ticket] = fields.get('ticket') ?? [];
  const read = z.object(groundsFields).safeParse({ reason, ticket });
  if (read.success) return read.data;
  for (const { path, message } of read.error.issues) report(path.join('.'), message);
  return {};
}

function addressesOf(fields: Fields, report: Report): Pick<WhitelistFields, 'input' | 'range'> | undefined {
  const [ip] = fields.get('ip') ?? [];
  const [cidr] = fields.get('cidr') ?? [];
  const [start] = fields.get('range[start]') ?? [];
  const [end] = fields.get('range[end]') ?? [];
  const given = [ip, cidr, start ?? end].filter((mode) => mode !== undefined).length;
  if (given !== 1) {
    for (const mode of ['ip', 'range', 'cidr']) report(mode, 'exactly one of ip, range and cidr is required.');
    return undefined;
  }
  if (ip !== undefined) return single(ip, report);
  return cidr === undefined ? between(start, end, report) : block(cidr, report);
}

function single(ip: string, report: Report): Pick<WhitelistFields, 'input' | 'range'> | undefined {
  const address = ipv4('ip', ip, report);
  return address === undefined ? undefined : { input: ip, range: rangeOfAddress(address) };
}

function between(
  start: string | undefined,
  end: string | undefined,
  report: Report,
): Pick<WhitelistFields, 'input' | 'range'> | undefined {
  const first = ipv4('range.start', start, report);
  const last = ipv4('range.end', end, report);
  if (first === undefined || last === undefined) return undefined;
  const range = rangeBetween(first, last);
  if (!isAddressProblem(range)) return { input: `${start}-${end}`, range };
  report('range.end', range.problem);
  return undefined;
}

function block(text: string, report: Report): Pick<WhitelistFields, 'input' | 'range'> | undefined {
  const cidr = parseCidr(text);
  if (isAddressProblem(cidr)) report('cidr', cidr.problem);
  else if (cidr.version !== 4) report('cidr', 'must be an IPv4 CIDR.');
  else return { input: text, range: rangeOfCidr(cidr) };
  return undefined;
}

function ipv4(field: string, text: string | undefined, report: Report): Address | undefined {
  if (text === undefined) {
    report(field, 'is required.');
    return undefined;
  }
  const address = parseAddress(text);
  if (isAddressProblem(address)) report(field, address.problem);
  else if (address.version !== 4) report(field, 'must be an IPv4 address.');
  else return address;
  return undefined;
}

async function regionsOf(
  texts: readonly string[],
  find: FindRegion,
  report: Report,
): Promise<WhitelistFields['regions'] | undefined> {
  if (texts.length === 0) report('regions', 'is required: one or more region ids.');
  if (texts.length > REGIONS_MAX) report('regions', `must name at most ${REGIONS_MAX} regions.`);
  const regions = new Map<number, string>();
  let isRight = texts.length > 0 && texts.length <= REGIONS_MAX;
  for (const [at, text] of texts.slice(0, REGIONS_MAX).entries()) {
    const region = await find(text);
    const isNumber = /^[1-9]\d{0,14}$/.test(text);
    if (region !== undefined) regions.set(region.regionId, region.name);
    else
      report(`regions.${at}`, isNumber ? `there is no region ${text}.` : 'must be the number or the name of a region.');
    isRight &&= region !== undefined;
  }
  return isRight ? [...regions].map(([regionId, name]) => ({ regionId, name })) : undefined;
}

const EXTENSIONS: Readonly<Record<string, EvidenceMediaType>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.pdf': 'application/pdf',
};

/** By what the signatures in a file's first bytes say. An animated PNG is a PNG. */
const CONTENTS: Readonly<Record<string, EvidenceMediaType>> = {
  'image/jpeg': 'image/jpeg',
  'image/png': 'image/png',
  'image/apng': 'image/png',
  'application/pdf': 'application/pdf',
};

/** What a file of evidence is. Its content decides; its name must agree. What the client says of its media type counts nothing. */
export async function evidenceType({
  fileName,
  head,
}: UploadedFile): Promise<Readonly<{ mediaType: EvidenceMediaType }> | Readonly<{ problem: string }>> {
  if (head.length === 0) return { problem: 'must not be empty.' };
  const named = EXTENSIONS[extname(fileName).toLowerCase()];
  if (named === undefined) return { problem: 'must be a file of type jpg, jpeg, png or pdf.' };
  const found = await fileTypeFromBuffer(head);
  const mediaType = found === undefined ? undefined : CONTENTS[found.mime];
  if (mediaType === undefined) return { problem: 'must be a jpg, png or pdf file by its content too.' };
  return mediaType === named ? { mediaType } : { problem: `has the content of ${mediaType}, which its name denies.` };
}
