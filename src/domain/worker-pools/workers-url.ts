/** Where workers find the service, or why no instance is launched. */
export type WorkersUrl = Readonly<{ url: string }> | Readonly<{ problem: string }>;

const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f:]*\])$/;

/** The service's address for workers, by `PUBLIC_URL`. A loopback address is the worker's own machine; tests may allow it. */
export function workersUrlOf({
  publicUrl,
  workerAllowLoopback,
}: Readonly<{ publicUrl: string | undefined; workerAllowLoopback: boolean }>): WorkersUrl {
  if (publicUrl === undefined) {
    return { problem: 'PUBLIC_URL is not set: an instance would not find this service' };
  }
  if (!workerAllowLoopback && LOOPBACK.test(new URL(publicUrl).hostname)) {
    return { problem: `PUBLIC_URL ${publicUrl} is a loopback address: an instance would not find this service there` };
  }
  return { url: publicUrl.replace(/\/+$/, '') };
}
