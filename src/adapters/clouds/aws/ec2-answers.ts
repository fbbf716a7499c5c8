import { z } from 'zod';
import { CloudFailure, type CloudInstance } from '../../../ports/clouds.ts';
import { childNamed, elementsAt, textOf, type XmlElement } from '../../xml.ts';
import { TAG } from './launch-request.ts';

const instance = z.object({
  instanceId: z.string().min(1),
  state: z.enum(['pending', 'running', 'stopping', 'stopped', 'shutting-down', 'terminated']),
  launchTime: z.string().transform(instantOf),
});

/** Billing stops where the state leaves running, however long the provider takes to shut down. */
const STATES = {
  pending: 'starting',
  running: 'running',
  stopping: 'running',
  stopped: 'running',
  'shutting-down': 'ended',
  terminated: 'ended',
} as const;

/** An end that was asked for, by us or by the machine itself, is no reason to tell. */
const ASKED_FOR = new Set(['Client.UserInitiatedShutdown', 'Client.InstanceInitiatedShutdown']);

/** The instances of a DescribeInstances answer that carry a whole set of the service's own tags. @throws CloudFailure `unreadable-answer` */
export function instancesIn(root: XmlElement): readonly CloudInstance[] {
  return elementsAt(root, 'reservationSet', 'item')
    .flatMap((reservation) => elementsAt(reservation, 'instancesSet', 'item'))
    .flatMap((item) => {
      const known = instanceOf(item);
      return known === undefined ? [] : [known];
    });
}

/** Tags by name, of an instance, a launch template or what else has a `tagSet`. */
export function tagsOf(item: XmlElement): ReadonlyMap<string, string> {
  return new Map(
    elementsAt(item, 'tagSet', 'item').map((tag) => [
      textOf(childNamed(tag, 'key')) ?? '',
      // A value may begin or end with blanks.
      childNamed(tag, 'value')?.text ?? '',
    ]),
  );
}

/** What a fleet made, and what it could not. */
export function fleetOutcome(
  root: XmlElement,
): Readonly<{ instanceIds: readonly string[]; errors: readonly Readonly<{ code: string; message: string }>[] }> {
  return {
    instanceIds: elementsAt(root, 'fleetInstanceSet', 'item').flatMap((item) =>
      elementsAt(item, 'instanceIds', 'item').flatMap((id) => textOf(id) ?? []),
    ),
    errors: elementsAt(root, 'errorSet', 'item').map((error) => ({
      code: textOf(childNamed(error, 'errorCode')) ?? 'unknown',
      message: textOf(childNamed(error, 'errorMessage')) ?? '',
    })),
  };
}

/** ISO 8601 as events have it. @throws CloudFailure `unreadable-answer` */
export function instantOf(text: string): string {
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds)) throw new CloudFailure('unreadable-answer', 'EC2 gives a time that is none');
  return new Date(milliseconds).toISOString().replace('Z', '+00:00');
}

function instanceOf(item: XmlElement): CloudInstance | undefined {
  const tags = tagsOf(item);
  const [installation, pool, worker, run] = [TAG.installation, TAG.pool, TAG.worker, TAG.run].map((tag) =>
    tags.get(tag),
  );
  if (installation === undefined || pool === undefined || worker === undefined || run === undefined) return undefined;
  const read = instance.safeParse({
    instanceId: textOf(childNamed(item, 'instanceId')),
    state: textOf(childNamed(childNamed(item, 'instanceState'), 'name')),
    launchTime: textOf(childNamed(item, 'launchTime')),
  });
  if (!read.success) {
    const fields = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new CloudFailure('unreadable-answer', `EC2 describes an instance without ${fields}`);
  }
  const { instanceId, state, launchTime } = read.data;
  const reason = childNamed(item, 'stateReason');
  const code = textOf(childNamed(reason, 'code'));
  return {
    installation,
    pool,
    worker,
    run,
    data: { instance_id: instanceId },
    createdAt: launchTime,
    state: STATES[state],
    endedAt: STATES[state] === 'ended' ? endIn(textOf(childNamed(item, 'reason')), launchTime) : null,
    because: code === undefined || code === '' || ASKED_FOR.has(code) ? null : reasonText(code, reason),
  };
}

function reasonText(code: string, reason: XmlElement | undefined): string {
  const message = textOf(childNamed(reason, 'message')) ?? '';
  return message === '' ? code : message.startsWith(code) ? message : `${code}: ${message}`;
}

/** `User initiated (2026-11-28 12:49:46 GMT)`; never before the launch, whatever the clocks of the provider say. */
function endIn(reason: string | undefined, launchTime: string): string | null {
  const [, day, time] = /\((\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (?:GMT|UTC)\)/.exec(reason ?? '') ?? [];
  if (day === undefined || time === undefined) return null;
  const ended = instantOf(`${day}T${time}Z`);
  return ended < launchTime ? launchTime : ended;
}
