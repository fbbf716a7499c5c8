import { z } from 'zod';
import { defineEvent, type EventOf } from '../codec.ts';
import { type AssetRecord, assetRecord } from './asset-records.ts';
import { asStored } from './fields.ts';

/** The asset exists. Its credentials, if it has any, are in the secret store under this id. */
export const AssetCreated = defineEvent(
  'AssetCreated',
  1,
  z.strictObject({
    asset: z.string(),
    record: asStored<AssetRecord>(assetRecord),
    secretId: z.string().nullable(),
  }),
);

/** The asset's public configuration is this from now on. */
export const AssetConfigured = defineEvent(
  'AssetConfigured',
  1,
  z.strictObject({ asset: z.string(), configuration: z.record(z.string(), z.json()) }),
);

/** The asset's credentials are those under this id from now on. */
export const AssetCredentialsReplaced = defineEvent(
  'AssetCredentialsReplaced',
  1,
  z.strictObject({ asset: z.string(), secretId: z.string().nullable(), credentialNames: z.array(z.string()) }),
);

/** The asset is gone, and its credentials with it; no pool names it. */
export const AssetDeleted = defineEvent('AssetDeleted', 1, z.strictObject({ asset: z.string() }));

export const assetEvents = [AssetCreated, AssetConfigured, AssetCredentialsReplaced, AssetDeleted] as const;

export type AssetEvent = EventOf<(typeof assetEvents)[number]>;
