import type { Clock } from '../../../ports/clock.ts';
import { stoppable, type Stopped } from '../driver-kit/driver-calls.ts';
import type { SshChannel, SshConnection } from './ssh-connection.ts';

/** The channels on one connection. A router that does not confirm that one is closed gets no more of them on this connection. */
export type SshChannels = Readonly<{
  connection: SshConnection;
  /**
   * Opens a channel, and gives it as soon as it is open. `over` resolves when its place is free again: when it is closed, or when the
   * router has not confirmed that within the time for it.
   */
  hold: (
    open: () => Promise<SshChannel>,
    signal: AbortSignal,
    stopped: Stopped,
  ) => Readonly<{ opened: Promise<SshChannel>; over: Promise<void> }>;
}>;

export type SshChannelsLimits = Readonly<{ clock: Clock; closeMilliseconds: number }>;

/**
 * `retire` is called once when a channel that was let go, or whose opening was given up, is still there after
 * `closeMilliseconds`: a hung program on the router keeps it open, or the connection itself hangs. The connection ends then, as soon as
 * the channels that are in use on it are over.
 */
export function holdChannels(
  connection: SshConnection,
  { clock, closeMilliseconds }: SshChannelsLimits,
  retire: () => void,
): SshChannels {
  let inUse = 0;
  let isRetired = false;

  const endUse = (): void => {
    inUse -= 1;
    if (isRetired && inUse === 0) connection.destroy();
  };
  const expectEnd = async (closed: Promise<unknown>): Promise<void> => {
    const over = new AbortController();
    const isLate = clock.wait(closeMilliseconds, over.signal).then(
      () => true,
      () => false,
    );
    void closed.then(() => over.abort());
    if (!(await isLate)) return;
    if (!isRetired) retire();
    isRetired = true;
    if (inUse === 0) connection.destroy();
  };

  const overOf = async (opened: Promise<SshChannel>, opening: Promise<SshChannel>): Promise<void> => {
    try {
      const { closed, released } = await opened;
      await Promise.race([closed, released]);
    } catch {
      // What comes too late is closed again.
      opening.then(({ channel }) => channel.destroy(), noChannel);
    }
    endUse();
    await expectEnd(opening.then(({ closed }) => closed, noChannel));
  };

  return {
    connection,
    hold: (open, signal, stopped) => {
      inUse += 1;
      const opening = open();
      const opened = stoppable(signal, opening, stopped);
      return { opened, over: overOf(opened, opening) };
    },
  };
}

/** Who asked for the channel has heard why there is none. */
function noChannel(): void {}
