import { z } from 'zod';
import { awsSpecifications } from './aws-specifications.ts';
import { hetznerSpecifications } from './hetzner-specifications.ts';

export const PROVIDER_TYPES = ['aws', 'hetzner'] as const;

export type ProviderType = (typeof PROVIDER_TYPES)[number];

/** What kind of instance a pool creates. `provider_type` selects the format. */
export const specifications = z.discriminatedUnion('provider_type', [awsSpecifications, hetznerSpecifications]);

export type Specifications = z.infer<typeof specifications>;
