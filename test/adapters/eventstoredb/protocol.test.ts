import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { streamServices } from '../../../src/adapters/eventstoredb/protocol.ts';
import { importsOf } from '../../architecture/source-text.ts';
import { repositoryFile } from '../../support/repository.ts';

const FOLDER = repositoryFile('src/adapters/eventstoredb');
const DOOR = 'protocol.ts';

/** What we use of each of the client's inner files; what is types alone must merely be there. */
const USED: Readonly<Record<string, readonly string[]>> = {
  'dist/Client/parseConnectionString.js': ['parseConnectionString'],
  'dist/utils/grpcUUID.js': ['parseUUID'],
  'generated/gossip_grpc_pb.js': ['GossipClient'],
  'generated/gossip_pb.js': ['MemberInfo'],
  'generated/serverfeatures_grpc_pb.js': ['ServerFeaturesClient'],
  'generated/shared_pb.js': ['Empty', 'MaximumAppendSizeExceeded', 'StreamIdentifier', 'UUID', 'WrongExpectedVersion'],
  'generated/status_pb.js': ['Status'],
  'generated/streams_grpc_pb.js': ['StreamsClient', 'StreamsService'],
  'generated/streams_pb.js': ['BatchAppendReq', 'ReadReq'],
};

const require = createRequire(repositoryFile('package.json'));

const test = suite("the inner files of the event store's client");

for (const [file, names] of Object.entries(USED)) {
  test(`${file} is where it was, with ${names.join(', ')}`, () => {
    const inner: unknown = require(`@eventstore/db-client/${file}`);
    assert.ok(typeof inner === 'object' && inner !== null, `${file} holds nothing`);
    const missing = names.filter((name) => !['function', 'object'].includes(typeof Reflect.get(inner, name)));
    assert.equal(missing, []);
  });
}

test('the service says by which path to read, and writes the request', () => {
  const { path, requestSerialize } = streamServices.StreamsService.read;
  assert.is(path, '/event_store.client.streams.Streams/Read');
  assert.is(typeof requestSerialize, 'function');
});

test('the door holds exactly these, and no other file of the adapter reaches behind it', () => {
  const inner = readdirSync(FOLDER).flatMap((file) =>
    importsOf(readFileSync(join(FOLDER, file), 'utf8'))
      .specifiers.filter((specifier) => specifier.startsWith('@eventstore/db-client/'))
      .map((specifier) => `${file}: ${specifier.replace('@eventstore/db-client/', '')}`),
  );
  assert.equal(
    inner.toSorted(),
    Object.keys(USED).map((file) => `${DOOR}: ${file}`),
  );
});

test.run();
