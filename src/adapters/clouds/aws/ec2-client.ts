import { AwsV4Signer } from 'aws4fetch';
import { CloudFailure } from '../../../ports/clouds.ts';
import { createXmlReader, elementsAt, textOf, type XmlElement, XmlProblem } from '../../xml.ts';
import { openHttpCalls } from '../driver-kit/http-call.ts';
import { failureCodeOf } from './failure-codes.ts';

/** A request's parameters as they are meant; lists are numbered from 1 when they are sent (`Filter.1.Value.2`). */
export type Ec2Parameters = Readonly<{ [name: string]: Ec2Value | undefined }>;
export type Ec2Value = string | number | boolean | Ec2Parameters | readonly Ec2Value[];

export type Ec2Answer = Readonly<{
  root: XmlElement;
  /** The provider's own time of the answer, ISO 8601; null where it does not say. */
  answeredAt: string | null;
}>;

/** EC2's query interface, signed. */
export type Ec2Client = Readonly<{
  /** @throws Ec2Refusal; CloudFailure where there was no answer, or none that can be read */
  call: (action: string, parameters: Ec2Parameters, signal: AbortSignal) => Promise<Ec2Answer>;
  close: () => Promise<void>;
}>;

/** EC2 said no. `code` is the one that all providers share, `ec2Code` EC2's own. */
export class Ec2Refusal extends CloudFailure {
  readonly ec2Code: string;
  constructor(action: string, ec2Code: string, status: number, message: string) {
    super(failureCodeOf(ec2Code, status), `EC2 ${action}: ${ec2Code}${message === '' ? '' : `: ${message}`}`);
    this.ec2Code = ec2Code;
  }
}

type Account = Readonly<{
  configuration: Readonly<{ region_name: string; ec2_endpoint_url?: string | undefined }>;
  credentials: Readonly<{ access_key_id: string; secret_access_key: string; session_token?: string | undefined }>;
}>;

const API_VERSION = '2016-11-15';
const MESSAGE_CHARACTERS_MAX = 300;

/** Opens an account at EC2; nothing is sent before the first call. A request is sent once: the driver says what may be asked again. */
export function openEc2Client({ configuration, credentials }: Account): Ec2Client {
  const region = configuration.region_name;
  const url = configuration.ec2_endpoint_url ?? `https://ec2.${region}.amazonaws.com/`;
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey, session_token: sessionToken } = credentials;
  const identity = { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  const calls = openHttpCalls('EC2');
  return {
    call: async (action, parameters, signal) => {
      const form = new URLSearchParams([['Action', action], ['Version', API_VERSION], ...flattened(parameters)]);
      const signer = new AwsV4Signer({
        ...identity,
        service: 'ec2',
        region,
        method: 'POST',
        url,
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: form.toString(),
      });
      const signed = await signer.sign();
      const headers = Object.fromEntries(signed.headers.entries());
      const answer = await calls.call(
        { method: 'POST', url: signed.url.toString(), headers, body: form.toString() },
        signal,
      );
      const root = rootOf(answer.text);
      if (answer.status >= 200 && answer.status < 300 && root !== undefined && root.name !== 'Response') {
        return { root, answeredAt: instantOf(answer.headers['date']) };
      }
      throw refusalOf(action, answer.status, root, Object.values(identity));
    },
    close: calls.close,
  };
}

/** The parameters as EC2 names them in a form, in the order in which they are given. */
export function flattened(parameters: Ec2Parameters): readonly [name: string, value: string][] {
  return Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : flattenedValue(name, value),
  );
}

function flattenedValue(name: string, value: Ec2Value): readonly [string, string][] {
  if (typeof value !== 'object') return [[name, String(value)]];
  if (isList(value)) return value.flatMap((entry, index) => flattenedValue(`${name}.${index + 1}`, entry));
  return flattened(value).map(([inner, text]): [string, string] => [`${name}.${inner}`, text]);
}

function isList(value: Ec2Parameters | readonly Ec2Value[]): value is readonly Ec2Value[] {
  return Array.isArray(value);
}

function rootOf(text: string): XmlElement | undefined {
  try {
    const reader = createXmlReader();
    reader.write(new TextEncoder().encode(text));
    return reader.end();
  } catch (error) {
    if (error instanceof XmlProblem) return undefined;
    throw error;
  }
}

function refusalOf(
  action: string,
  status: number,
  root: XmlElement | undefined,
  secrets: readonly string[],
): CloudFailure {
  const [error] = elementsAt(root, 'Errors', 'Error');
  const code = textOf(error?.children.find(({ name }) => name === 'Code'));
  if (code === undefined || code === '') {
    const kind = status >= 500 ? 'outcome-unknown' : 'unreadable-answer';
    return new CloudFailure(kind, `EC2 ${action}: answer with status ${status} is not EC2's`);
  }
  const message = textOf(error?.children.find(({ name }) => name === 'Message')) ?? '';
  return new Ec2Refusal(action, code, status, shownMessage(code, message, secrets));
}

/** What EC2 says, without what is secret, and without the encoded text that only another permission can decode. */
function shownMessage(code: string, message: string, secrets: readonly string[]): string {
  const plain =
    code === 'UnauthorizedOperation' ? message.replace(/\s*Encoded authorization failure message:.*$/s, '') : message;
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), plain);
  return clean.length > MESSAGE_CHARACTERS_MAX ? `${clean.slice(0, MESSAGE_CHARACTERS_MAX - 1)}…` : clean;
}

function instantOf(date: unknown): string | null {
  const milliseconds = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(milliseconds) ? null : new Date(milliseconds).toISOString();
}
