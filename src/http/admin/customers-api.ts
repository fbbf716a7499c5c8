/** What the settings say of where customers reach the service. */
export type CustomersApi = Readonly<{
  /** Where the service is for others. */
  publicUrl: string | undefined;
  /** Where its customers are served, when administrators have a port of their own. */
  apart: Readonly<{ host: string; port: number }> | undefined;
}>;

/** Where customers reach their API; `isSure`: it is set, or it is where this very page was reached. */
export type CustomersApiAddress = Readonly<{ url: string; isSure: boolean }>;

/** How a page was asked for. */
export type PageRequest = Readonly<{ protocol: string; secure: boolean; hostname: string; host: string | undefined }>;

const ANY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** The address of the customers' API, as well as it is known. */
export function customersApiAddress(request: PageRequest, { publicUrl, apart }: CustomersApi): CustomersApiAddress {
  if (publicUrl !== undefined) return { url: under(publicUrl), isSure: true };
  if (apart === undefined) {
    const base = `${request.protocol}://${request.host ?? 'edgeward'}`;
    return { url: under(base), isSure: true };
  }
  const { host, port } = apart;
  // Behind a proxy the name of these pages may be theirs alone; reached directly, both ports are on the same machine.
  const name = request.secure && !ANY_HOST.has(host) ? host : request.hostname;
  return {
    url: under(`http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`),
    isSure: false,
  };
}

function under(base: string): string {
  return `${base.replace(/\/+$/, '')}/api/v1`;
}
