import { childNamed, textOf, type XmlElement } from '../../xml.ts';

/** What a device complains about (RFC 6241, section 4.3). */
export type RpcError = Readonly<{
  tag: string;
  severity: 'error' | 'warning';
  appTag: string | undefined;
  path: string | undefined;
  message: string | undefined;
  /** Who holds the lock, where that is the complaint; 0 is no NETCONF session. */
  sessionId: string | undefined;
  /** What the device names as bad. */
  bad: string | undefined;
}>;

/** A device did not do an operation. */
export class RpcFailure extends Error {
  override readonly name = 'RpcFailure';
  readonly errors: readonly RpcError[];
  constructor(operation: string, errors: readonly RpcError[]) {
    super(`<${operation}>: ${errors.slice(0, MOST_SHOWN).map(textOfError).join('; ')}`);
    this.errors = errors;
  }

  /** Whether one of the errors has that tag. */
  has(tag: string): boolean {
    return this.errors.some((error) => error.tag === tag);
  }
}

const MOST_SHOWN = 3;
const LONGEST_SHOWN = 300;

/** The complaints in a reply, wherever they stand: Junos has those of a commit among the results of each routing engine. */
export function errorsIn(reply: XmlElement): readonly RpcError[] {
  return complaintsBelow(reply).map((error) => {
    const text = (name: string): string | undefined => textOf(childNamed(error, name));
    const info = childNamed(error, 'error-info');
    return {
      tag: text('error-tag') ?? 'unknown',
      severity: text('error-severity') === 'warning' ? 'warning' : 'error',
      appTag: text('error-app-tag'),
      path: text('error-path'),
      message: text('error-message'),
      sessionId: textOf(childNamed(info, 'session-id')),
      bad: info?.children.find(({ name }) => name.startsWith('bad-'))?.text.trim(),
    };
  });
}

/** What stands in a datastore is no complaint, whatever it is called. */
function complaintsBelow({ children }: XmlElement): readonly XmlElement[] {
  return children.flatMap((child) => {
    if (child.name === 'data') return [];
    return child.name === 'rpc-error' ? [child] : complaintsBelow(child);
  });
}

/** A complaint in one line, for an operator. */
export function textOfError({ tag, appTag, path, message, bad }: RpcError): string {
  const details = [path, bad].filter((detail) => detail !== undefined && detail !== '');
  const text = [tag, appTag && `(${appTag})`, message, details.length > 0 && `[${details.join(' ')}]`];
  const line = text.filter(Boolean).join(' ').replace(/\s+/g, ' ');
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line;
}
