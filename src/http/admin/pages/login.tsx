import type { JSX } from 'preact';
import type { Page } from './page.ts';
import { Field, Form, type FormErrors } from './parts/form.tsx';
import { Note } from './parts/badge.tsx';

const NO_ERRORS: FormErrors = {};

/** Name and password. `to`: where the way leads afterwards. */
export function loginPage({
  name,
  to,
  errors = NO_ERRORS,
  status,
}: Readonly<{ name: string; to: string; errors?: FormErrors; status?: number }>): Page {
  return {
    title: 'Log in',
    ...(status === undefined ? {} : { status }),
    body: (
      <Form action="/admin/login" errors={errors} submit="Log in">
        <input type="hidden" name="to" value={to} />
        <Field
          name="name"
          label="Name"
          value={name}
          errors={errors}
          autocomplete="username"
          isRequired
          autofocus={name === ''}
        />
        <Field
          name="password"
          label="Password"
          type="password"
          errors={errors}
          autocomplete="current-password"
          isRequired
          autofocus={name !== ''}
        />
      </Form>
    ),
  };
}

/** The code beside the password. `passed` says, signed, whose password was right, and until when that counts. */
export function secondFactorPage({
  passed,
  to,
  errors = NO_ERRORS,
  status,
}: Readonly<{ passed: string; to: string; errors?: FormErrors; status?: number }>): Page {
  return {
    title: 'Second factor',
    ...(status === undefined ? {} : { status }),
    body: (
      <Form action="/admin/login/second-factor" errors={errors} submit="Log in" cancel="/admin/login">
        <input type="hidden" name="passed" value={passed} />
        <input type="hidden" name="to" value={to} />
        <Field
          name="code"
          label="Code"
          errors={errors}
          hint="Six digits from your app, or one of your recovery codes."
          autocomplete="one-time-code"
          isRequired
          autofocus
        />
      </Form>
    ),
  };
}

/** No login goes over a line that others can read. */
export function needsTlsPage(): Page {
  return {
    title: 'HTTPS is needed',
    status: 403,
    body: (
      <Note state="warn">
        Passwords are taken over HTTPS, or on the machine itself (http://127.0.0.1 or http://localhost). Put a proxy
        with a certificate before edgeward, and tell edgeward of it with TRUST_PROXY.
      </Note>
    ),
  };
}

/** What needs a password that was shown just now: it is asked for, and then goes on with what was sent. */
export function confirmPage({
  action,
  fields,
  errors = NO_ERRORS,
}: Readonly<{
  action: string;
  fields: readonly (readonly [string, string])[];
  errors?: FormErrors;
}>): Page {
  return {
    title: 'Confirm that it is you',
    status: 403,
    body: (
      <>
        <p>This needs your password, as you have logged in more than 15 minutes ago.</p>
        <Form action={action} errors={errors} submit="Go on" cancel="/admin/">
          {fields.map(([name, value], index) => (
            <input key={index} type="hidden" name={name} value={value} />
          ))}
          <Field
            name="confirm-password"
            label="Password"
            type="password"
            errors={errors}
            autocomplete="current-password"
            isRequired
            autofocus
          />
        </Form>
      </>
    ),
  };
}

/** Something other than what was asked for, and why. */
export function problemPage({
  status,
  title,
  because,
  requestId,
}: Readonly<{ status: number; title: string; because: string; requestId: string }>): Page {
  const body: JSX.Element = (
    <section role="alert">
      <Note state={status >= 500 ? 'bad' : 'warn'}>{because}</Note>
      <p class="dim">
        Request <code>{requestId}</code>
      </p>
      <p>
        <a href="/admin/">To the overview</a>
      </p>
    </section>
  );
  return { title, status, body };
}
