import { element, type XmlAttribute, type XmlElement } from '../../xml.ts';

/** The namespace of NETCONF's own elements and attributes (RFC 6241). */
const NETCONF = 'urn:ietf:params:xml:ns:netconf:base:1.0';
const MONITORING = 'urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring';

type Datastore = 'candidate' | 'running' | 'startup';

const own = (name: string, content: string | readonly XmlElement[] = []): XmlElement => element(NETCONF, name, content);
const datastore = (role: 'source' | 'target', name: Datastore): XmlElement => own(role, [own(name)]);
const subtree = (content: XmlElement): XmlElement =>
  element(NETCONF, 'filter', [content], [{ namespace: '', name: 'type', value: 'subtree' }]);

/** What each side says first. */
export const HELLO = own('hello', [
  own(
    'capabilities',
    ['1.0', '1.1'].map((version) => own('capability', `urn:ietf:params:netconf:base:${version}`)),
  ),
]);

/** An operation as it is sent. */
export function rpc(messageId: string, operation: XmlElement): XmlElement {
  return element(NETCONF, 'rpc', [operation], [{ namespace: '', name: 'message-id', value: messageId }]);
}

export const LOCK_CANDIDATE = own('lock', [datastore('target', 'candidate')]);
export const UNLOCK_CANDIDATE = own('unlock', [datastore('target', 'candidate')]);
export const DISCARD_CHANGES = own('discard-changes');
export const VALIDATE_CANDIDATE = own('validate', [datastore('source', 'candidate')]);
export const SAVE_RUNNING = own('copy-config', [datastore('target', 'startup'), datastore('source', 'running')]);
export const CLOSE_SESSION = own('close-session');
export const COMMIT = own('commit');

/** What is to become of an element in an `<edit-config>`. */
export function editOperation(value: 'replace' | 'delete'): XmlAttribute {
  return { namespace: NETCONF, prefix: 'nc', name: 'operation', value };
}

/** A part of a datastore. */
export function getConfig(source: Datastore, filter: XmlElement): XmlElement {
  return own('get-config', [datastore('source', source), subtree(filter)]);
}

/** Changes the candidate by what `config` says, all of it or nothing where the device can do so. */
export function editCandidate(config: XmlElement, testFirst: boolean): XmlElement {
  return own('edit-config', [
    datastore('target', 'candidate'),
    own('default-operation', 'merge'),
    ...(testFirst ? [own('test-option', 'test-then-set')] : []),
    own('error-option', 'rollback-on-error'),
    own('config', [config]),
  ]);
}

/** A commit that the device takes back after `seconds`, and with the session that made it unless `persist` names it. */
export function commitForNow(seconds: number, persist: string | undefined): XmlElement {
  const named = persist === undefined ? [] : [own('persist', persist)];
  return own('commit', [own('confirmed'), own('confirm-timeout', String(seconds)), ...named]);
}

/** Makes a commit that has a name one for good. */
export function confirmCommit(persistId: string): XmlElement {
  return own('commit', [own('persist-id', persistId)]);
}

/** Takes back a commit that was not confirmed. */
export function cancelCommit(persistId: string): XmlElement {
  return own('cancel-commit', [own('persist-id', persistId)]);
}

/** Who is logged in (RFC 6022). */
export const GET_SESSIONS = own('get', [
  subtree(element(MONITORING, 'netconf-state', [element(MONITORING, 'sessions')])),
]);
