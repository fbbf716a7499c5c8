import type { Operation } from '../../route.ts';

type Tag = Readonly<{ name: string; description: string; scope: Operation['scope']; first: readonly string[] }>;

const customer = { scope: 'customer' } as const;
const admin = { scope: 'admin' } as const;

/** The groups that operations are shown in, in this order, with what the paths in them begin with. */
const TAGS: readonly Tag[] = [
  {
    ...customer,
    name: 'Addresses',
    first: ['ips'],
    description: 'Take addresses out of service, and put them back.',
  },
  {
    ...customer,
    name: 'Subnets',
    first: ['subnets'],
    description: 'What is yours, what is disabled of it, and what is not on the routers yet.',
  },
  { ...customer, name: 'Commits', first: ['commits'], description: 'How your lists get on the routers of a region.' },
  {
    ...customer,
    name: 'Webhook deliveries',
    first: ['webhook-deliveries'],
    description: 'What your webhook was told about commits, and telling it again.',
  },
  {
    ...customer,
    name: 'Source whitelist',
    first: ['source-whitelist'],
    description: 'Addresses of yours elsewhere, which the firewall is to accept as sources.',
  },
  {
    ...admin,
    name: 'Administration: customers',
    first: ['customers', 'subnets'],
    description:
      'Customers, their tokens, subnets and webhooks. For administrators with an admin token, like all below.',
  },
  {
    ...admin,
    name: 'Administration: whitelist review',
    first: ['whitelist-requests'],
    description: 'What customers ask to be whitelisted, and what they prove it with.',
  },
  {
    ...admin,
    name: 'Administration: regions and routers',
    first: ['regions', 'operations'],
    description: 'Where lists go, and what is done on routers by hand.',
  },
  {
    ...admin,
    name: 'Administration: commits',
    first: ['commits'],
    description: 'What was deployed, what differs from the routers, and deploying at once.',
  },
  {
    ...admin,
    name: 'Administration: events',
    first: ['events', 'verify', 'projections'],
    description: 'What has happened, that nothing of it was altered, and how far the views have read it.',
  },
  {
    ...admin,
    name: 'Administration: accounts',
    first: ['accounts'],
    description: 'Those who administer, and their tokens.',
  },
  {
    ...admin,
    name: 'Administration: worker pools',
    first: ['worker-pools', 'scopes', 'assets', 'workers', 'work-requests'],
    description: 'Cloud instances that come and go with demand, who uses them, and the work that they are given.',
  },
  {
    name: 'Workers',
    scope: 'worker',
    first: ['activate', 'agent', 'ready', 'heartbeat', 'take', 'finish'],
    description: 'What the agent on a worker asks, with its own token. Nothing for people.',
  },
];

/** The name of the group that an operation is in. */
export function tagOf({ scope, path }: Operation): string | undefined {
  const first = path.split('/')[1] ?? '';
  return TAGS.find((tag) => tag.scope === scope && tag.first.includes(first))?.name;
}

/** The groups of which some operation is. */
export function tagsOf(operations: readonly Operation[]): readonly Readonly<{ name: string; description: string }>[] {
  const used = new Set(operations.map(tagOf));
  return TAGS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description }));
}
