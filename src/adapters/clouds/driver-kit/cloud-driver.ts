import { z } from 'zod';
import { check } from '../../../events/worker-pools/document-checks.ts';
import { type Cloud, type CloudDriver, CloudFailure, type CloudSpecifications } from '../../../ports/clouds.ts';

/** What a driver is defined by: its formats as schemas, and what opens an account whose fields have been checked. */
type Definition<S extends CloudSpecifications, A extends object> = Readonly<{
  providerType: string;
  specifications: z.ZodType<S>;
  /** `configuration` (what is no secret, with `server_url`) and `credentials`. */
  account: z.ZodType<A>;
  notes: (specifications: S) => readonly string[];
  firstBoots: (specifications: S) => ReturnType<CloudDriver['firstBoots']>;
  userDataBytesMax: number;
  /** Loads what talks to the provider, at the first call. `specificationsOf` throws CloudFailure `bad-specifications`. */
  open: (account: A, specificationsOf: (given: CloudSpecifications) => S) => Promise<Cloud>;
}>;

/** A driver from its formats. Whatever comes in, from people or out of the log, is read by the same schemas. */
export function defineCloudDriver<S extends CloudSpecifications, A extends object>(
  definition: Definition<S, A>,
): CloudDriver {
  const { providerType, specifications, account: accountSchema } = definition;
  const specificationsOf = (given: CloudSpecifications): S => {
    const checked = check(specifications, 'specifications', given);
    if (checked.ok) return checked.value;
    throw new CloudFailure('bad-specifications', checked.problems.map(lineOf).join('; '));
  };
  return {
    providerType,
    checkSpecifications: (input) => check(specifications, 'specifications', input),
    specificationsSchema: () => z.toJSONSchema(specifications, { io: 'input' }),
    checkAccount: ({ configuration, credentials }, name) => {
      const checked = check(accountSchema, name, { configuration, credentials }, { confidential: true });
      return checked.ok ? [] : checked.problems;
    },
    notes: (given) => {
      // What an earlier version has taken may be refused by now: the pool can still be looked at and edited.
      const checked = check(specifications, 'specifications', given);
      return checked.ok ? definition.notes(checked.value) : checked.problems.map(lineOf);
    },
    firstBoots: (given) => definition.firstBoots(specificationsOf(given)),
    userDataBytesMax: definition.userDataBytesMax,
    open: ({ name, configuration, credentials }) => {
      const checked = check(accountSchema, '', { configuration, credentials }, { confidential: true });
      if (checked.ok) return lazily(() => definition.open(checked.value, specificationsOf));
      throw new CloudFailure('bad-account', `provider account ${name}: ${checked.problems.map(lineOf).join('; ')}`);
    },
  };
}

/** Where an account's workers reach the service; every format of an account has it. */
export const serverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .optional()
  .describe('where the workers of this account reach the service; default: PUBLIC_URL');

/** One secret: a line of printable characters. */
export function secretText(description: string) {
  return z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[!-~]+$/, { error: 'must be printable ASCII without blanks' })
    .describe(description);
}

/** A command that reads a document, and a server without accounts, load nothing of any provider's. */
function lazily(load: () => Promise<Cloud>): Cloud {
  let loading: Promise<Cloud> | undefined;
  const loaded = (): Promise<Cloud> => (loading ??= load());
  return {
    create: async (...call) => (await loaded()).create(...call),
    terminate: async (...call) => (await loaded()).terminate(...call),
    list: async (...call) => (await loaded()).list(...call),
    inspect: async (...call) => (await loaded()).inspect(...call),
    removeLeftovers: async (...call) => (await loaded()).removeLeftovers(...call),
    check: async (...call) => (await loaded()).check(...call),
    close: async () => (await loading)?.close(),
  };
}

function lineOf({ path, message }: Readonly<{ path: string; message: string }>): string {
  return `${path} ${message}`;
}
