import { elementsAt, textOf, type XmlElement } from '../../xml.ts';

/** What a device says in its hello that it can do, as far as it matters here. */
export type Capabilities = Readonly<{
  /** Chunked framing, and what RFC 6241 has added to RFC 4741. */
  base11: boolean;
  candidate: boolean;
  /** A commit that is taken back unless it is confirmed; with `persist` also by and after another session. */
  confirmedCommit: 'persist' | 'session' | undefined;
  validate: boolean;
  startup: boolean;
  /** Shows who holds a lock (RFC 6022). */
  monitoring: boolean;
}>;

/** `urn:ietf:params:netconf:…`; Junos has written `urn:ietf:params:xml:ns:netconf:…`. */
const STANDARD = /^urn:ietf:params:(?:xml:ns:)?netconf:(?:capability:)?([a-z-]+):(\d+\.\d+)(?:\?|$)/;
const MONITORING = 'urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring';

/** The capabilities in a hello (RFC 6241, section 8.1). */
export function capabilitiesIn(hello: XmlElement): Capabilities {
  const uris = elementsAt(hello, 'capabilities', 'capability').flatMap((capability) => textOf(capability) ?? []);
  const standard = new Set(
    uris.flatMap((uri) => {
      const [, name, version] = STANDARD.exec(uri) ?? [];
      return name === undefined ? [] : [`${name}:${version}`];
    }),
  );
  const base11 = standard.has('base:1.1');
  return {
    base11,
    candidate: standard.has('candidate:1.0'),
    confirmedCommit:
      base11 && standard.has('confirmed-commit:1.1')
        ? 'persist'
        : standard.has('confirmed-commit:1.0') || standard.has('confirmed-commit:1.1')
          ? 'session'
          : undefined,
    validate: standard.has('validate:1.0') || standard.has('validate:1.1'),
    startup: standard.has('startup:1.0'),
    monitoring: uris.some((uri) => uri.startsWith(MONITORING)),
  };
}
