import * as assert from 'uvu/assert';
import type { TestCustomer } from '../servers/edgeward-server.ts';
import { openApiClient } from './api-client.ts';

/** Disables 203.0.113.`host`. */
export async function disableHost(url: string, { token }: Pick<TestCustomer, 'token'>, host: number): Promise<void> {
  const client = openApiClient(url, token);
  const { status, text } = await client.post('/ips/disable', { ip: `203.0.113.${host}` });
  await client.close();
  assert.is(status, 200, text);
}

/** The hosts of 203.0.113.0/24, the customer's first subnet, of which the API says that they are pending. */
export async function pendingHosts(url: string, { token, subnetIds }: TestCustomer): Promise<readonly number[]> {
  const client = openApiClient(url, token);
  const { status, text } = await client.get(`/subnets/${subnetIds[0]}/pending`);
  await client.close();
  assert.is(status, 200, text);
  return [...text.matchAll(/203\.0\.113\.(\d+)"/g)].map(([, host]) => Number(host));
}
