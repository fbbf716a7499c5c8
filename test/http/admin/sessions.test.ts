import { Secret, TOTP } from 'otpauth';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  chooseAdministratorRole,
  createAdministrator,
  disableAdministrator,
  resetAdministratorPassword,
} from '../../../src/application/ip-control/administrators.ts';
import { removeSecondFactor } from '../../../src/application/ip-control/second-factor.ts';
import { isRefusal } from '../../../src/kernel/decider.ts';
import { type PagesClient, openPagesClient, OWN_PASSWORD } from '../../support/http/pages-client.ts';
import { openPagesUnderTest } from '../../support/http/pages-under-test.ts';

type Opened = Awaited<ReturnType<typeof openPagesUnderTest>>;

const sessions = suite<{ opened: Opened; client: PagesClient; password: string }>('sessions of administrators');

sessions.before.each(async (context) => {
  context.opened = await openPagesUnderTest();
  const { application, url } = context.opened;
  context.password = '';
  for (const name of ['ada', 'grace']) {
    const created = await createAdministrator({ name }, application.context, application);
    assert.not.ok(isRefusal(created));
    if (!isRefusal(created) && name === 'ada') context.password = created.password;
  }
  await application.catchUp();
  context.client = openPagesClient(url);
  await context.client.logIn('ada', context.password);
});

sessions.after.each(async ({ opened, client }) => {
  await client.close();
  await opened.close();
});

const isIn = async (client: PagesClient): Promise<boolean> => (await client.get('/admin/')).status === 200;

sessions('a login gives a cookie that scripts and other sites do not have', async ({ opened, client }) => {
  const other = openPagesClient(opened.url);
  const { headers } = await other.post('/admin/login', { name: 'ada', password: OWN_PASSWORD });
  const cookies = [headers['set-cookie'] ?? []].flat();
  const [session = ''] = cookies.filter((cookie) => cookie.startsWith('edgeward='));
  assert.match(session, /^edgeward=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200$/);
  for (const cookie of cookies) assert.match(cookie, /; HttpOnly; SameSite=Lax/);
  const secret = other.cookies.get('edgeward') ?? '';
  assert.not.ok((await opened.application.logText()).includes(secret), 'events have its hash alone');
  assert.ok(await isIn(client), 'another login leaves the first one alone');
  await other.close();
});

sessions('behind TLS the cookies are bound to the host', async () => {
  const behind = await openPagesUnderTest({ trustProxy: true });
  const created = await createAdministrator({ name: 'ada' }, behind.application.context, behind.application);
  await behind.application.catchUp();
  const client = openPagesClient(behind.url);
  const headers = { 'sec-fetch-site': 'same-origin', 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' };
  const password = isRefusal(created) ? '' : created.password;
  const answer = await client.post('/admin/login', { name: 'ada', password }, headers);
  assert.is(answer.status, 303);
  assert.match(String(answer.headers['set-cookie']), /__Host-edgeward=[^;]+; Path=\/; HttpOnly; SameSite=Lax; Secure/);
  assert.is(answer.headers['strict-transport-security'], 'max-age=31536000');
  const plain = await client.get('/admin/login', { 'x-forwarded-proto': 'http', 'x-forwarded-for': '192.0.2.1' });
  assert.is(plain.status, 403);
  assert.ok(plain.text.includes('HTTPS is needed'));
  await client.close();
  await behind.close();
});

sessions('an unknown name, a wrong password and a disabled account are answered alike', async ({ opened, client }) => {
  await disableAdministrator('grace', opened.application.context, opened.application);
  await opened.application.catchUp();
  const texts = new Set<string>();
  client.cookies.clear();
  for (const name of ['nobody', 'ada', 'grace']) {
    const { status, text } = await client.post('/admin/login', { name, password: 'a wrong password' });
    assert.is(status, 401);
    texts.add(text.replaceAll(name, 'NAME'));
  }
  assert.is(texts.size, 1);
});

sessions('a session is over twelve hours after its login, whatever is done in it', async ({ opened, client }) => {
  for (let minutes = 0; minutes < 12 * 60; minutes += 30) {
    assert.ok(await isIn(client), `after ${minutes} minutes`);
    await opened.clock.advance({ milliseconds: 30 * 60_000 });
  }
  assert.not.ok(await isIn(client));
});

sessions('it is over after an hour without a person; fragments are none', async ({ opened, client }) => {
  await opened.clock.advance({ milliseconds: 59 * 60_000 });
  assert.ok(await isIn(client));
  await opened.clock.advance({ milliseconds: 50 * 60_000 });
  const fragment = await client.get('/admin/', { 'hx-request': 'true', 'hx-target': 'work' });
  assert.is(fragment.status, 200);
  assert.not.ok(fragment.text.includes('<html'));
  await opened.clock.advance({ milliseconds: 11 * 60_000 });
  assert.not.ok(await isIn(client));
  await opened.application.catchUp();
  assert.match(await opened.application.logText(), /"because":"idle"/);
});

sessions(
  'who sends a form in a session that is over is told so, and comes back to the form',
  async ({ opened, client }) => {
    await opened.clock.advance({ milliseconds: 13 * 60 * 60_000 });
    const before = await opened.application.logText();
    const form = { name: 'late', role: 'auditor' };
    const referer = `${opened.url}/admin/accounts/new?from=list`;
    const sent = await client.post('/admin/new-account', form, { 'sec-fetch-site': 'same-origin', referer });
    assert.is(sent.location, '/admin/login?to=%2Fadmin%2Faccounts%2Fnew%3Ffrom%3Dlist');
    assert.match(
      (await client.get(sent.location)).text,
      'Your session is over: log in again. Nothing of what you sent',
    );
    assert.is(await opened.application.logText(), before, 'nothing is recorded');
    const elsewhere = await client.post('/admin/new-account', form, {
      'sec-fetch-site': 'same-origin',
      referer: 'no URL',
    });
    assert.is(elsewhere.location, '/admin/login');
    const looked = await client.get('/admin/customers');
    assert.match((await client.get(looked.location)).text, /over: log in again\.<\/p>/);
    client.cookies.clear();
    const stranger = await client.get('/admin/customers');
    assert.not.match((await client.get(stranger.location)).text, /session is over/, 'who had none is told of none');
  },
);

sessions('who logs out is out', async ({ client }) => {
  const secret = client.cookies.get('edgeward') ?? '';
  const seen = client.cookies.get('edgeward-seen') ?? '';
  const { headers } = await client.post('/admin/logout', {});
  assert.is(headers['clear-site-data'], '"cache", "storage"');
  client.cookies.set('edgeward', secret).set('edgeward-seen', seen);
  assert.not.ok(await isIn(client), 'with the cookies of before too');
});

sessions('another password ends all other sessions, and the own one goes on', async ({ opened, client }) => {
  const other = openPagesClient(opened.url);
  await other.logIn('ada', OWN_PASSWORD);
  const before = client.cookies.get('edgeward');
  const form = { current: OWN_PASSWORD, password: 'another long password', again: 'another long password' };
  assert.is((await client.post('/admin/account/password', form)).status, 303);
  assert.ok(await isIn(client));
  assert.is.not(client.cookies.get('edgeward'), before);
  assert.not.ok(await isIn(other));
  await other.close();
});

const ENDS = {
  'another role': async ({ application }: Opened) =>
    chooseAdministratorRole({ name: 'ada', role: 'auditor' }, application.context, application),
  'the account disabled': async ({ application }: Opened) =>
    disableAdministrator('ada', application.context, application),
  'a password that is reset': async ({ application }: Opened) => {
    return resetAdministratorPassword('ada', application.context, application);
  },
  'an administrator who ends it': async ({ application }: Opened) => {
    const { state } = await application.administrators.state('ada');
    const [sessionId = ''] = state.exists ? [...state.sessions.keys()] : [];
    const data = { sessionId, because: 'ended-by-administrator' } as const;
    return application.administrators.handle('ada', { type: 'EndAdministratorSession', data }, application.context);
  },
};

for (const [what, end] of Object.entries(ENDS)) {
  sessions(`it is over after ${what}`, async ({ opened, client }) => {
    assert.ok(await isIn(client));
    const answer = await end(opened);
    assert.not.ok(answer !== undefined && isRefusal(answer));
    await opened.application.catchUp();
    assert.not.ok(await isIn(client));
  });
}

sessions('a second factor that is set up or removed ends all other sessions', async ({ opened, client }) => {
  const other = openPagesClient(opened.url);
  await other.logIn('ada', OWN_PASSWORD);
  const { text } = await client.get('/admin/account/second-factor');
  const secret = /name="secret" value="([A-Z2-7]{32})"/.exec(text)?.[1] ?? '';
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: opened.clock.now().epochMilliseconds,
  });
  assert.is((await client.post('/admin/account/second-factor', { secret, code })).status, 200);
  assert.equal([await isIn(client), await isIn(other)], [true, false]);
  const removed = await removeSecondFactor({ name: 'ada' }, opened.application.context, opened.application);
  assert.not.ok(isRefusal(removed));
  await opened.application.catchUp();
  assert.not.ok(await isIn(client));
  await other.close();
});

sessions(
  'what makes a secret asks for the password after a quarter of an hour, and goes on with what was sent',
  async (context) => {
    const { opened, client } = context;
    await opened.clock.advance({ milliseconds: 16 * 60_000 });
    const form = { name: 'rob', role: 'reviewer' };
    const asked = await client.post('/admin/new-account', form);
    assert.is(asked.status, 403);
    assert.match(asked.text, /name="name" value="rob"/);
    const wrong = await client.post('/admin/new-account', { ...form, 'confirm-password': 'not the password' });
    assert.ok(wrong.text.includes('This is not your password.'));
    const made = await client.post('/admin/new-account', { ...form, 'confirm-password': OWN_PASSWORD });
    assert.is(made.status, 200, made.text);
    assert.match(made.text, /shown this once/);
    assert.is((await client.post('/admin/new-account', { name: 'eve', role: 'auditor' })).status, 200, 'and not again');
  },
);

sessions('a password that is shown again, or changed, makes the session no longer', async ({ opened, client }) => {
  const ends = async () => {
    const { state } = await opened.application.administrators.state('ada');
    return state.exists ? [...state.sessions.values()].map(({ sessionId, until }) => [sessionId, until]) : [];
  };
  const [[first, until] = []] = await ends();
  await opened.clock.advance({ milliseconds: 16 * 60_000 });
  const form = { name: 'rob', role: 'reviewer', 'confirm-password': OWN_PASSWORD };
  assert.is((await client.post('/admin/new-account', form)).status, 200);
  const [[second, newUntil] = []] = await ends();
  assert.is.not(second, first);
  assert.is(newUntil, until);
  const password = 'another password of hers';
  const change = { current: OWN_PASSWORD, password, again: password };
  assert.is((await client.post('/admin/account/password', change)).status, 303);
  const [[third, lastUntil] = []] = await ends();
  assert.is.not(third, second);
  assert.is(lastUntil, until);
});

sessions(
  'an account called new has its page like any other; before, the address leads to the form',
  async (context) => {
    const { client } = context;
    assert.is((await client.get('/admin/accounts/new')).location, '/admin/new-account');
    assert.is((await client.post('/admin/new-account', { name: 'new', role: 'auditor' })).status, 200);
    assert.match((await client.get('/admin/accounts/new')).text, '<h1>new</h1>');
  },
);

sessions(
  'requests are counted by session: one that asks too much leaves the other of the same address alone',
  async ({ opened }) => {
    const [busy, other] = [openPagesClient(opened.url), openPagesClient(opened.url)];
    for (const client of [busy, other]) await client.logIn('ada', OWN_PASSWORD);
    let status = 200;
    for (let asked = 0; asked <= 600 && status !== 429; asked += 1) status = (await busy.get('/admin/account')).status;
    assert.is(status, 429);
    assert.is((await other.get('/admin/account')).status, 200);
    busy.cookies.set('edgeward', 'a session that was made up');
    assert.is((await busy.get('/admin/account')).status, 303, 'what names no session is counted by its address');
    for (const client of [busy, other]) await client.close();
  },
);

sessions(
  'ten failures make an address wait for a quarter of an hour, and are told at the next login',
  async ({ opened }) => {
    const stranger = openPagesClient(opened.url);
    for (let tries = 0; tries < 10; tries += 1)
      assert.is((await stranger.post('/admin/login', { name: 'ada', password: 'a wrong password' })).status, 401);
    const waits = await stranger.post('/admin/login', { name: 'ada', password: OWN_PASSWORD });
    assert.is(waits.status, 429);
    assert.is(waits.headers['retry-after'], '900');
    await opened.clock.advance({ milliseconds: 15 * 60_000 + 1 });
    const entered = await stranger.post('/admin/login', { name: 'ada', password: OWN_PASSWORD });
    assert.is(entered.status, 303);
    await stranger.close();
  },
);

const setUpSecondFactor = async ({ clock }: Opened, client: PagesClient) => {
  const { text } = await client.get('/admin/account/second-factor');
  const secret = Secret.fromBase32(/name="secret" value="([A-Z2-7]{32})"/.exec(text)?.[1] ?? '');
  const code = () => new TOTP({ secret }).generate({ timestamp: clock.now().epochMilliseconds });
  const form = { secret: secret.base32, code: code() };
  assert.is((await client.post('/admin/account/second-factor', form)).status, 200);
  return code;
};

const passedIn = ({ text }: Readonly<{ text: string }>): string =>
  /name="passed" value="([^"]+)"/.exec(text)?.[1] ?? '';

sessions('a password that was shown before it was reset opens nothing with a code', async ({ opened, client }) => {
  const code = await setUpSecondFactor(opened, client);
  const other = openPagesClient(opened.url);
  const passed = passedIn(await other.post('/admin/login', { name: 'ada', password: OWN_PASSWORD }));
  assert.is.not(passed, '');
  const { application, clock } = opened;
  assert.not.ok(isRefusal(await resetAdministratorPassword('ada', application.context, application)));
  await clock.advance({ seconds: 60 });
  const beforeViews = await other.post('/admin/login/second-factor', { passed, code: code() });
  assert.equal([beforeViews.status, beforeViews.location], [303, '/admin/login']);
  await application.catchUp();
  const after = await other.post('/admin/login/second-factor', { passed, code: code() });
  assert.equal([after.status, after.location], [303, '/admin/login']);
  assert.not.ok(other.cookies.has('edgeward'));
  await other.close();
});

sessions('a password that is reset while it is being checked opens no session', async ({ opened }) => {
  const other = openPagesClient(opened.url);
  const { application } = opened;
  const { secretId = '' } = (await application.views.administrators.get('ada')) ?? {};
  const hash = (await application.secrets.get(secretId)) ?? '';
  assert.not.ok(isRefusal(await resetAdministratorPassword('ada', application.context, application)));
  // As a check found it that began before: the view shows the account as it was, and the hash is there.
  await application.secrets.put(secretId, hash);
  const entered = await other.post('/admin/login', { name: 'ada', password: OWN_PASSWORD });
  assert.is(entered.status, 401);
  assert.not.ok(other.cookies.has('edgeward'));
  await other.close();
});

sessions('of many codes at the same moment no more are tried than may fail', async ({ opened, client }) => {
  const code = await setUpSecondFactor(opened, client);
  const other = openPagesClient(opened.url);
  const passed = passedIn(await other.post('/admin/login', { name: 'ada', password: OWN_PASSWORD }));
  await opened.clock.advance({ seconds: 60 });
  const wrong = code() === '000000' ? '111111' : '000000';
  const tries = Array.from({ length: 30 }, () => other.post('/admin/login/second-factor', { passed, code: wrong }));
  const statuses = (await Promise.all(tries)).map(({ status }) => status).toSorted((a, b) => a - b);
  assert.equal(statuses, [...Array.from({ length: 10 }, () => 401), ...Array.from({ length: 20 }, () => 429)]);
  assert.is((await other.post('/admin/login/second-factor', { passed, code: code() })).status, 429);
  await other.close();
});

sessions('logins that do not fail use up no tries', async ({ opened }) => {
  const other = openPagesClient(opened.url);
  for (let times = 0; times < 12; times += 1)
    assert.is((await other.post('/admin/login', { name: 'ada', password: OWN_PASSWORD })).status, 303);
  await other.close();
});

sessions("a customer's first webhook asks for the password, as its secret is shown", async ({ opened, client }) => {
  const form = { name: 'Acme', rate_limit: '60' };
  await opened.clock.advance({ milliseconds: 16 * 60_000 });
  const address = { ...form, webhook_url: 'https://example.net/hook' };
  for (const path of ['/admin/customers/new', '/admin/customers/1/edit']) {
    const asked = await client.post(path, address);
    assert.is(asked.status, 403, path);
    assert.ok(asked.text.includes('confirm-password'));
    assert.not.ok(asked.text.includes('whsec_'));
    assert.not.ok((await client.post(path, form)).text.includes('confirm-password'));
  }
});

sessions('a session that has run out is counted and shown no more', async ({ opened, client }) => {
  const { application, url } = opened;
  const reset = await resetAdministratorPassword('grace', application.context, application);
  assert.not.ok(isRefusal(reset));
  await application.catchUp();
  const grace = openPagesClient(url);
  if (!isRefusal(reset)) await grace.logIn('grace', reset.password);
  const asked = async (): Promise<string> => (await client.get('/admin/accounts/grace/reset-password')).text;
  assert.match(await asked(), '1 session of grace ends at once.');
  await opened.clock.advance({ milliseconds: 13 * 60 * 60_000 });
  await client.logIn('ada', OWN_PASSWORD);
  assert.match(await asked(), 'grace is not logged in.');
  assert.not.match((await client.get('/admin/accounts/grace')).text, '/sessions/');
  await grace.close();
});

sessions('a token of the API opens no page, and a session no API', async ({ client }) => {
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  client.cookies.clear();
  assert.is((await client.get('/admin/', { authorization: 'Bearer edw_something' })).status, 303);
  assert.is((await client.get('/api/v1/subnets', { cookie })).status, 404);
});

sessions.run();
