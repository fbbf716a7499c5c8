import * as fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  childNamed,
  createXmlReader,
  element,
  elementsAt,
  renderXml,
  textOf,
  type XmlElement,
  XmlProblem,
} from '../../src/adapters/xml.ts';

function read(text: string, pieceBytes = 7): XmlElement {
  const reader = createXmlReader();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.write(bytes.subarray(at, at + pieceBytes));
  return reader.end();
}

test('whatever is in a text, it is read as it was written, and is no markup', () => {
  const texts = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[^\P{C}\n\t]|\uFFFE|\uFFFF/gu, ''));
  fc.assert(
    fc.property(texts, texts, (text, value) => {
      const written = renderXml(
        element('urn:a', 'a', [element('urn:b', 'b', text)], [{ namespace: '', name: 'c', value: value.trim() }]),
      );
      const found = read(written);
      assert.is(found.children.length, 1);
      assert.is(found.children[0]?.text, text);
      assert.is(found.attributes.find(({ name }) => name === 'c')?.value, value.trim().replace(/[\n\t]/g, ' '));
    }),
  );
});

for (const hostile of ['</b><evil/>', '<![CDATA[x]]>', '&lt;', '&evil;', ']]>]]>', '"\'<!--', '<?x?>']) {
  test(`${JSON.stringify(hostile)} is text like any other`, () => {
    const written = renderXml(element('urn:a', 'a', [element('urn:a', 'b', hostile)]));
    assert.is(read(written).children[0]?.text, hostile);
    assert.not(written.includes('<evil'));
  });
}

test('what is no character of XML is not written', () => {
  assert.throws(() => renderXml(element('urn:a', 'a', 'x\u0000y')));
  assert.throws(() => renderXml(element('urn:a', 'a b', 'x')));
});

test('namespaces, by prefix and by default; an attribute with a namespace of its own', () => {
  const written = renderXml(
    element(
      'urn:a',
      'list',
      [element('urn:a', 'name', 'x')],
      [{ namespace: 'urn:nc', prefix: 'nc', name: 'operation', value: 'replace' }],
    ),
  );
  const found = read(written);
  assert.is(found.namespace, 'urn:a');
  assert.equal(
    found.attributes.filter(({ namespace }) => namespace === 'urn:nc'),
    [{ namespace: 'urn:nc', name: 'operation', value: 'replace' }],
  );
  const prefixed = read('<n:a xmlns:n="urn:n"><n:b/><c xmlns="urn:c"/><d/></n:a>');
  assert.equal(
    [prefixed, ...prefixed.children].map(({ namespace, name }) => `${namespace} ${name}`),
    ['urn:n a', 'urn:n b', 'urn:c c', ' d'],
  );
});

test('comments, declarations and CDATA', () => {
  const found = read(
    '<?xml version="1.0"?>\n<!-- no zombies were killed -->\n<a>1<!-- 2 --><![CDATA[<3>]]></a>\n<!-- x -->',
  );
  assert.is(found.text, '1<3>');
});

test('ways through a document', () => {
  const found = read('<a><b><c>1</c><c> 2 </c></b><b><c>3</c></b></a>');
  assert.equal(elementsAt(found, 'b', 'c').map(textOf), ['1', '2']);
  assert.equal(elementsAt(found, 'x', 'c'), []);
  assert.equal(elementsAt(undefined, 'c'), []);
  assert.is(childNamed(found, 'x'), undefined);
  assert.is(textOf(undefined), undefined);
});

for (const [what, text] of [
  ['nothing', ''],
  ['no element', '<!-- -->'],
  ['text alone', 'ok'],
  ['an element that is not closed', '<a><b></b>'],
  ['elements that are closed crosswise', '<a><b></a></b>'],
  ['two elements', '<a/><b/>'],
  ['a prefix without a namespace', '<n:a/>'],
  ['an entity that nobody declared', '<a>&b;</a>'],
  ['a document type', '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
  ['a document type elsewhere', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
  ['an attribute twice', '<a b="1" b="2"/>'],
  ['a character that is none', '<a>\u0001</a>'],
  ['elements in elements without end', '<a>'.repeat(1000)],
] as const) {
  test(`is refused: ${what}`, () => {
    assert.throws(
      () => read(text),
      (error: unknown) => error instanceof XmlProblem,
    );
  });
}

test('is refused: bytes that are no UTF-8', () => {
  const reader = createXmlReader();
  const write = (): void => {
    reader.write(Buffer.from('<a>\xff\xfe</a>', 'latin1'));
    reader.end();
  };
  assert.throws(write, (error: unknown) => error instanceof XmlProblem);
});

test.run();
