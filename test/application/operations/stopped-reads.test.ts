import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { createCustomer } from '../../../src/application/ip-control/customers.ts';
import { pageEvents } from '../../../src/application/ip-control/history.ts';
import { verifyStream } from '../../../src/application/operations/verify.ts';
import { openTestApplication } from '../../support/test-application.ts';

const application = await openTestApplication();
test.after(() => application.close());

function reasonOf(read: Promise<unknown>): Promise<unknown> {
  return read.catch((error: unknown) => error);
}

test('a stream is read no further once the one who asked has gone', async () => {
  await createCustomer({ name: 'acme', settings: {} }, application.context, application);
  const client = new AbortController();
  const gone = new Error('gone');
  let pages = 0;
  const store = {
    /** The same page again and again, until the client has gone. */
    read: async function* (stream: string) {
      for await (const page of application.store.read(stream)) {
        for (; pages < 100;) {
          pages += 1;
          if (pages === 3) client.abort(gone);
          yield page;
        }
      }
    },
  };
  assert.is(await reasonOf(verifyStream('customer-1', store, client.signal)), gone);
  assert.is(pages, 3);
  assert.is(await reasonOf(pageEvents({ stream: 'customer-1' }, 10, application, client.signal)), gone);
});

test.run();
