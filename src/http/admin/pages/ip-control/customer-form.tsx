import type { JSX } from 'preact';
import type { CustomerSettings } from '../../../../events/ip-control/vocabulary.ts';
import { sumsOfFields } from '../parts/seen-fields.ts';
import { prefixListNamesOf } from '../../../../domain/ip-control/prefix-list-names.ts';
import { PREFIX_LIMIT } from '../../../../domain/ip-control/region-limits.ts';
import { type Fields, fieldOf, type Page } from '../page.ts';
import { Check, Field, Form, type FormErrors } from '../parts/form.tsx';
import { Code } from '../parts/text.tsx';

/** A customer's settings as texts, as forms have them. */
export type CustomerFormValues = Readonly<
  Record<'name' | 'rate_limit' | 'whitelist_limit' | 'prefix_limit' | 'evidence_max_bytes' | 'webhook_url', string>
> &
  Readonly<Record<'allow_synchronous' | 'allow_source_whitelist' | 'trusted', boolean>>;

/** The form's values for settings. */
export function valuesOfSettings(name: string, settings: CustomerSettings): CustomerFormValues {
  return {
    name,
    rate_limit: String(settings.rateLimitPerMinute),
    whitelist_limit: String(settings.whitelistLimit),
    prefix_limit: String(settings.prefixLimit ?? PREFIX_LIMIT),
    evidence_max_bytes: String(settings.evidenceMaxBytes),
    webhook_url: settings.webhookUrl ?? '',
    allow_synchronous: settings.allowSynchronous,
    allow_source_whitelist: settings.allowSourceWhitelist,
    trusted: settings.trusted,
  };
}

/** The form's values as they were sent. */
export function valuesOfForm(form: Fields): CustomerFormValues {
  const text = (name: string): string => fieldOf(form, name).trim();
  return {
    name: text('name'),
    rate_limit: text('rate_limit'),
    whitelist_limit: text('whitelist_limit'),
    prefix_limit: text('prefix_limit'),
    evidence_max_bytes: text('evidence_max_bytes'),
    webhook_url: text('webhook_url'),
    allow_synchronous: text('allow_synchronous') === 'true',
    allow_source_whitelist: text('allow_source_whitelist') === 'true',
    trusted: text('trusted') === 'true',
  };
}

/** The settings that a form was shown with, as it keeps them. */
export function settingsSeen(values: CustomerFormValues): string {
  const shown = settingsOfValues(values);
  return 'settings' in shown ? sumsOfFields(shown.settings) : '';
}

/** The settings that a form says, or what is wrong by field. */
export function settingsOfValues(
  values: CustomerFormValues,
): Readonly<{ settings: CustomerSettings }> | Readonly<{ errors: FormErrors }> {
  const errors: Record<string, string> = {};
  const whole = (
    name: 'rate_limit' | 'whitelist_limit' | 'prefix_limit' | 'evidence_max_bytes',
    min: number,
  ): number => {
    const number = /^\d{1,15}$/.test(values[name]) ? Number(values[name]) : Number.NaN;
    if (!(number >= min)) errors[name] = `must be a whole number from ${min}.`;
    return number;
  };
  const settings = {
    rateLimitPerMinute: whole('rate_limit', 1),
    whitelistLimit: whole('whitelist_limit', 0),
    prefixLimit: whole('prefix_limit', 1),
    evidenceMaxBytes: whole('evidence_max_bytes', 1),
    webhookUrl: values.webhook_url === '' ? null : values.webhook_url,
    allowSynchronous: values.allow_synchronous,
    allowSourceWhitelist: values.allow_source_whitelist,
    trusted: values.trusted,
  };
  return Object.keys(errors).length > 0 ? { errors } : { settings };
}

/** What a name makes of the lists on routers, while it is typed. */
export function NameCheck({ name }: Readonly<{ name: string }>) {
  const names = prefixListNamesOf(name);
  if (names.length === 0) return <p class="hint">The prefix-lists are named after the customer.</p>;
  return (
    <p class="hint">
      Prefix-lists: <Code>{names.join(', ')}</Code>
    </p>
  );
}

export type CustomerFormView = Readonly<{
  /** Undefined for a new customer. */
  customer: Readonly<{ customerId: number; name: string }> | undefined;
  values: CustomerFormValues;
  /** What the customer's settings were when the form was first shown. */
  seen?: string;
  errors: FormErrors;
}>;

/** A new customer, or the settings of one. */
export function customerFormPage({ customer, values, seen, errors }: CustomerFormView): Page {
  const path = customer === undefined ? '/admin/customers' : `/admin/customers/${customer.customerId}`;
  const crumbs = [{ name: 'Customers', href: '/admin/customers' }];
  const check = {
    'hx-get': '/admin/customers/name-check',
    'hx-trigger': 'input changed delay:200ms',
    'hx-target': '#name-check',
  };
  const names = <NameCheck name={values.name} />;
  return {
    title: customer === undefined ? 'New customer' : 'Settings',
    crumbs: customer === undefined ? crumbs : [...crumbs, { name: customer.name, href: path }],
    ...(Object.keys(errors).length > 0 ? { status: 422 } : {}),
    parts: { 'name-check': names },
    body: (
      <Form
        action={customer === undefined ? `${path}/new` : `${path}/edit`}
        errors={errors}
        submit={customer === undefined ? 'Create customer' : 'Save'}
        cancel={path}
      >
        {customer === undefined ? (
          <>
            <Field
              name="name"
              label="Name"
              value={values.name}
              errors={errors}
              isRequired
              autofocus
              more={{ ...check, maxLength: 64 }}
            />
            <div id="name-check">{names}</div>
          </>
        ) : null}
        {seen === undefined ? null : <input type="hidden" name="seen" value={seen} />}
        <SettingsFields values={values} errors={errors} />
      </Form>
    ),
  };
}

function SettingsFields({ values, errors }: Pick<CustomerFormView, 'values' | 'errors'>): JSX.Element {
  return (
    <>
      <Field
        name="rate_limit"
        label="Requests per minute"
        type="number"
        value={values.rate_limit}
        errors={errors}
        more={{ min: 1 }}
      />
      <Field
        name="prefix_limit"
        label="Prefixes per list and region"
        type="number"
        value={values.prefix_limit}
        errors={errors}
        more={{ min: 1 }}
      />
      <Field
        name="webhook_url"
        label="Webhook"
        type="url"
        value={values.webhook_url}
        errors={errors}
        hint="Told when a commit has ended. Empty: no webhook. The secret is shown once."
      />
      <fieldset>
        <legend>Allowed</legend>
        <Check
          name="allow_synchronous"
          label="Wait for commits (synchronous requests)"
          isChecked={values.allow_synchronous}
        />
        <Check
          name="allow_source_whitelist"
          label="Ask for source whitelist entries"
          isChecked={values.allow_source_whitelist}
        />
        <Check name="trusted" label="Trusted: whitelist requests need no review" isChecked={values.trusted} />
      </fieldset>
      <Field
        name="whitelist_limit"
        label="Whitelist requests at most"
        type="number"
        value={values.whitelist_limit}
        errors={errors}
        more={{ min: 0 }}
      />
      <Field
        name="evidence_max_bytes"
        label="Bytes of evidence at most"
        type="number"
        value={values.evidence_max_bytes}
        errors={errors}
        more={{ min: 1 }}
      />
    </>
  );
}
