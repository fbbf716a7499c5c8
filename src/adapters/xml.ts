import { DOMImplementation, type Document, type Element, XMLSerializer } from '@xmldom/xmldom';
import { SaxesParser, type SaxesTagNS } from 'saxes';

/** An element with what is in it. Text between child elements is of no meaning in NETCONF and is kept together. */
export type XmlElement = Readonly<{
  namespace: string;
  name: string;
  attributes: readonly XmlAttribute[];
  children: readonly XmlElement[];
  text: string;
}>;

/** An attribute; `prefix` is used in writing only, for one that has a namespace. */
export type XmlAttribute = Readonly<{ namespace: string; name: string; value: string; prefix?: string }>;

/** Reads one document, piece by piece. */
export type XmlReader = Readonly<{
  /** @throws XmlProblem */
  write: (bytes: Uint8Array) => void;
  /** The document's element. @throws XmlProblem when the document is not complete */
  end: () => XmlElement;
}>;

/** What was read is no well-formed XML, or no XML that we take. */
export class XmlProblem extends Error {
  override readonly name = 'XmlProblem';
}

/** No configuration is nested so deep. */
const DEEPEST = 64;

/** An element of text, or of other elements. */
export function element(
  namespace: string,
  name: string,
  content: string | readonly XmlElement[] = [],
  attributes: readonly XmlAttribute[] = [],
): XmlElement {
  const [text, children] = typeof content === 'string' ? [content, []] : ['', content];
  return { namespace, name, attributes, children, text };
}

/** The text of a document. Nothing in an element's texts can end as markup. */
export function renderXml(root: XmlElement): string {
  const document = new DOMImplementation().createDocument(null, '');
  document.appendChild(domElement(document, root));
  return new XMLSerializer().serializeToString(document, { requireWellFormed: true });
}

/** Reads strictly (saxes): well-formed, namespaces resolved, no document type and so no entities but XML's own five. */
export function createXmlReader(): XmlReader {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const parser = new SaxesParser({ xmlns: true });
  const open: Growing[] = [];
  let root: XmlElement | undefined;

  parser.on('error', (error) => {
    throw new XmlProblem(error.message);
  });
  parser.on('doctype', () => {
    throw new XmlProblem('a document type is not taken');
  });
  parser.on('opentag', (tag) => {
    if (open.length >= DEEPEST) throw new XmlProblem(`nested deeper than ${DEEPEST} elements`);
    open.push(growingElement(tag));
  });
  const addText = (text: string): void => {
    const current = open.at(-1);
    if (current !== undefined) current.text += text;
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const closed = open.pop();
    if (closed === undefined) return;
    const parent = open.at(-1);
    if (parent === undefined) root = closed;
    else parent.children.push(closed);
  });
  return {
    write: (bytes) => {
      parser.write(decoded(() => decoder.decode(bytes, { stream: true })));
    },
    end: () => {
      parser.write(decoded(() => decoder.decode())).close();
      if (root === undefined) throw new XmlProblem('there is no element');
      return root;
    },
  };
}

/** The first child of that name; undefined where there is none. Devices differ in namespaces where names can't be mistaken. */
export function childNamed(parent: XmlElement | undefined, name: string): XmlElement | undefined {
  return parent?.children.find((child) => child.name === name);
}

/** What is found from `root` down along the names, by the first child of each name but the last, which may be there often. */
export function elementsAt(root: XmlElement | undefined, ...names: readonly string[]): readonly XmlElement[] {
  const parent = names.slice(0, -1).reduce<XmlElement | undefined>(childNamed, root);
  return parent?.children.filter(({ name }) => name === names.at(-1)) ?? [];
}

/** An element's own text, without white space around it. */
export function textOf(found: XmlElement | undefined): string | undefined {
  return found?.text.trim();
}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch {
    throw new XmlProblem('the text is not UTF-8');
  }
}

type Growing = { namespace: string; name: string; attributes: XmlAttribute[]; children: XmlElement[]; text: string };

function growingElement(tag: SaxesTagNS): Growing {
  const attributes = Object.values(tag.attributes).map(({ uri, local, value }) => ({
    namespace: uri,
    name: local,
    value,
  }));
  return { namespace: tag.uri, name: tag.local, attributes, children: [], text: '' };
}

function domElement(document: Document, { namespace, name, attributes, children, text }: XmlElement): Element {
  const made = document.createElementNS(namespace, name);
  for (const { namespace: of, prefix, name: attribute, value } of attributes) {
    made.setAttributeNS(of === '' ? null : of, prefix === undefined ? attribute : `${prefix}:${attribute}`, value);
  }
  if (text !== '') made.appendChild(document.createTextNode(text));
  for (const child of children) made.appendChild(domElement(document, child));
  return made;
}
