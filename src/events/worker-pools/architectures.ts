import { z } from 'zod';

/** Debian architecture names of tasks. */
export const ARCHITECTURES = ['amd64', 'arm64', 'armel', 'armhf', 'i386', 'ppc64el', 'riscv64', 's390x'] as const;

export const architecture = z.enum(ARCHITECTURES);

export type Architecture = z.infer<typeof architecture>;

/** The task architectures that a pool's workers support: at least one, each once, in the order of the table above. */
export const architectures = z
  .array(architecture)
  .min(1)
  .describe('task architectures supported by workers of the pool')
  .transform((given) => ARCHITECTURES.filter((name) => given.includes(name)));
