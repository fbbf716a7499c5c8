import { z } from 'zod';
import { distroRelease } from './fields.ts';

const INSTALL_SOURCES = [
  'release',
  'backports',
  'daily-builds',
  'pre-installed',
  'enterprise',
  'enterprise-staging',
] as const;

/**
 * What kind of instance a pool creates, as it is kept. The format is that of the driver that `provider_type` names, which has checked it
 * and filled in its defaults where it came in, and checks it again where it creates an instance. Every format has these three fields.
 */
export const specifications = z
  .object({
    provider_type: z.string(),
    distro_release: distroRelease.optional(),
    worker_install_source: z.enum(INSTALL_SOURCES).default('release'),
  })
  .catchall(z.json());

export type Specifications = z.infer<typeof specifications>;
