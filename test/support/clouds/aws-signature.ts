import { createHash, createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Ec2Login } from './ec2-proxy.ts';

/** What EC2 would say of the signature (version 4) of a request; undefined: it is right. Made by the rules, not by the library that signs. */
export function problemOfSignature(
  { method = '', url = '/', headers }: IncomingMessage,
  body: string,
  { accessKeyId, secretAccessKey, region }: Ec2Login,
): string | undefined {
  const authorization = headers.authorization ?? '';
  const [, credential, signedHeaders = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(authorization) ?? [];
  const [key, day = '', scopeRegion, service, end] = credential?.split('/') ?? [];
  if (key !== accessKeyId) return 'AuthFailure';
  if (scopeRegion !== region || service !== 'ec2' || end !== 'aws4_request') return 'SignatureDoesNotMatch';
  const names = signedHeaders.split(';');
  if (!names.includes('host') || !names.includes('x-amz-date')) return 'SignatureDoesNotMatch';
  const canonicalHeaders = names.map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`).join('');
  const canonical = [method, url, '', canonicalHeaders, signedHeaders, sha256(body)].join('\n');
  const date = String(headers['x-amz-date']);
  if (!date.startsWith(day)) return 'SignatureDoesNotMatch';
  const toSign = ['AWS4-HMAC-SHA256', date, `${day}/${region}/ec2/aws4_request`, sha256(canonical)].join('\n');
  const signingKey = [day, region, 'ec2', 'aws4_request'].reduce<Buffer>(hmac, Buffer.from(`AWS4${secretAccessKey}`));
  return hmac(signingKey, toSign).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch';
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
