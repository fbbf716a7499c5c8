import { z } from 'zod';
import { freeJson } from './fields.ts';
import { assetName } from './names.ts';
import { across } from './document-checks.ts';

export const ASSET_CATEGORIES = ['cloud-provider-account', 'apt-authentication'] as const;

export const assetCategory = z.enum(ASSET_CATEGORIES);

export type AssetCategory = z.infer<typeof assetCategory>;

const CONFIGURATION_BYTES_MAX = 65_536;
const CREDENTIALS_MAX = 32;
const CREDENTIAL_NAME_MAX = 64;
const CREDENTIAL_CHARACTERS_MAX = 16_384;
/** One file of the secret store. */
const CREDENTIALS_BYTES_MAX = 60_000;

/** Secrets by name. They go to the secret store; no event and no message holds them. */
export const credentials = z
  .record(z.string(), z.string().min(1).max(CREDENTIAL_CHARACTERS_MAX))
  .check(
    across((value, report) => {
      const names = Object.keys(value);
      if (names.length > CREDENTIALS_MAX) report([], `must have at most ${CREDENTIALS_MAX} entries`);
      if (new TextEncoder().encode(JSON.stringify(value)).length > CREDENTIALS_BYTES_MAX)
        report([], `must be at most ${CREDENTIALS_BYTES_MAX} bytes in all`);
      if (names.some((name) => name === '' || name.length > CREDENTIAL_NAME_MAX))
        report([], `must have names of 1 to ${CREDENTIAL_NAME_MAX} characters`);
    }),
  )
  .meta({
    maxProperties: CREDENTIALS_MAX,
    propertyNames: { type: 'string', minLength: 1, maxLength: CREDENTIAL_NAME_MAX },
  })
  .describe('secrets by name; they go to the secret store');

export type Credentials = z.infer<typeof credentials>;

export const providerAccountConfiguration = freeJson(
  'settings of the provider account that are no secrets, such as region_name',
  CONFIGURATION_BYTES_MAX,
);

/** One line of a file that apt reads: no blanks where apt splits, nothing that starts another line. */
const aptWord = z
  .string()
  .max(255)
  .regex(/^[A-Za-z0-9][A-Za-z0-9./+~_-]*$/, { error: 'must be letters, digits and . / + ~ _ -, without blanks' });

export const aptConfiguration = z.strictObject({
  url: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9./~_%+-]*)?$/, {
      error: 'must be an http or https URL without user, password, query and fragment (https://deb.example.com/debian)',
    })
    .describe('the repository that the worker software is installed from'),
  suite: aptWord.exactOptional().describe('suite of the repository; default: distro_release of the pool'),
  components: z.array(aptWord).min(1).max(16).default(['main']).describe('components of the repository'),
  signing_key: z
    .string()
    .max(12_000)
    .regex(
      /^-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n[A-Za-z0-9+/=:.,()<>@ \r\n-]+-----END PGP PUBLIC KEY BLOCK-----\s*$/,
      {
        error: 'must be an ASCII-armoured OpenPGP public key block',
      },
    )
    .exactOptional()
    .describe('the key that signs the repository, ASCII-armoured; default: the keys that the image trusts'),
});

export type AptConfiguration = z.infer<typeof aptConfiguration>;

/** What apt's auth.conf takes: one word. */
const aptCredential = z
  .string()
  .min(1)
  .max(1_024)
  .regex(/^[!-~]+$/, { error: 'must be printable ASCII without blanks' });

const aptCredentials = z.strictObject({
  username: aptCredential.describe('user of the repository'),
  password: aptCredential.describe('password of the repository'),
});

/** An account at one of these providers, as it is written by hand. What its driver wants of the fields it says itself. */
export function cloudProviderAccount(providerTypes: readonly string[]) {
  return z.strictObject({
    name: assetName,
    provider_type: z.enum(providerTypes).describe('the provider of the account'),
    configuration: providerAccountConfiguration.default({}),
    credentials,
  });
}

/** An apt-authentication as it is written by hand. */
export const aptAuthentication = z.strictObject({
  name: assetName,
  configuration: aptConfiguration,
  credentials: aptCredentials.optional(),
});

/** The public part of an asset, as events and views have it. */
export const assetRecord = z.discriminatedUnion('category', [
  z.strictObject({
    category: z.literal('cloud-provider-account'),
    name: assetName,
    provider_type: z.string(),
    configuration: providerAccountConfiguration,
    credential_names: z.array(z.string()),
  }),
  z.strictObject({
    category: z.literal('apt-authentication'),
    name: assetName,
    configuration: aptConfiguration,
    credential_names: z.array(z.string()),
  }),
]);

export type AssetRecord = z.infer<typeof assetRecord>;
