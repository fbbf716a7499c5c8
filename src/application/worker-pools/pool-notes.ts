import type { PoolRecord } from '../../events/worker-pools/pool-record.ts';
import type { CloudDriver } from '../../ports/clouds.ts';
import { activeSlots, type PoolState } from '../../commands/worker-pools/pool-state.ts';

/** What an administrator should know about a pool that was just created or changed, though it is accepted as it is. */
export function poolNotes(state: PoolState, usedSeconds: number, drivers: readonly CloudDriver[]): readonly string[] {
  const { record } = state;
  if (record === undefined) return [];
  return [...limitNotes(record, activeSlots(state).length, usedSeconds), ...specificationNotes(record, drivers)];
}

function limitNotes(record: PoolRecord, active: number, usedSeconds: number): readonly string[] {
  const { max_active_instances: most, target_max_seconds_per_month: target } = record.limits;
  const notes: string[] = [];
  if (most === 0) notes.push('limits.max_active_instances is 0: the pool creates no instance');
  else if (most !== null && active > most) {
    notes.push(
      `${active} instances are active, limits.max_active_instances is ${most}: nothing that runs is ended for that, and nothing new starts before fewer than ${most} are active`,
    );
  }
  if (target !== null && usedSeconds >= target) {
    notes.push(
      `${Math.floor(usedSeconds)} seconds of this month are used, limits.target_max_seconds_per_month is ${target}: nothing new starts, idle instances end, running tasks end first`,
    );
  }
  if (target !== null && most === null) {
    notes.push(
      'limits.target_max_seconds_per_month is a target, which running tasks may overrun: set max_active_instances as well, and billing alerts at the provider',
    );
  }
  if (!record.enabled && active > 0)
    notes.push(`the pool creates no instances; ${active} that are active go on until they are idle`);
  return notes;
}

function specificationNotes(
  { specifications, apt_authentication }: PoolRecord,
  drivers: readonly CloudDriver[],
): readonly string[] {
  const source = specifications.worker_install_source;
  const notes: string[] = [];
  if (['daily-builds', 'enterprise', 'enterprise-staging'].includes(source) && apt_authentication === null) {
    notes.push(
      `worker_install_source ${source} needs a repository of its own: name it by apt_authentication before instances are launched`,
    );
  }
  const driver = drivers.find(({ providerType }) => providerType === specifications.provider_type);
  return [...notes, ...(driver?.notes(specifications) ?? [])];
}
