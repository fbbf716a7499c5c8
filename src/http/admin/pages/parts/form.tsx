import type { ComponentChildren, JSX } from 'preact';

/** What is wrong with a form, by field; '' is about all of it. */
export type FormErrors = Readonly<Record<string, string>>;

type FieldProps = Readonly<{
  name: string;
  label: string;
  value?: string | undefined;
  type?: 'text' | 'password' | 'number' | 'url' | 'search';
  hint?: string;
  errors: FormErrors;
  isRequired?: boolean;
  /** What browsers fill in. */
  autocomplete?: string;
  autofocus?: boolean;
  more?: Readonly<Record<string, string | number>>;
}>;

/** A field with its label, what it means, and what is wrong with it. */
export function Field({
  name,
  label,
  value,
  type,
  hint,
  errors,
  isRequired,
  autocomplete,
  autofocus,
  more,
}: FieldProps): JSX.Element {
  const error = errors[name];
  const attributes: Readonly<Record<string, string | number>> = { type: type ?? 'text', ...more };
  const described = [hint === undefined ? '' : `${name}-hint`, error === undefined ? '' : `${name}-error`]
    .join(' ')
    .trim();
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        value={value}
        required={isRequired}
        autocomplete={autocomplete ?? 'off'}
        autofocus={autofocus}
        aria-invalid={error === undefined ? undefined : 'true'}
        aria-describedby={described === '' ? undefined : described}
        {...attributes}
      />
      <Remarks name={name} hint={hint} error={error} />
    </div>
  );
}

/** A field for several lines. */
export function TextArea({
  name,
  label,
  value,
  hint,
  errors,
  rows,
}: Readonly<{
  name: string;
  label: string;
  value: string;
  hint: string;
  errors: FormErrors;
  rows: number;
}>): JSX.Element {
  const error = errors[name];
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <textarea
        id={name}
        name={name}
        rows={rows}
        spellcheck={false}
        aria-invalid={error === undefined ? undefined : 'true'}
        aria-describedby={`${name}-hint${error === undefined ? '' : ` ${name}-error`}`}
      >
        {value}
      </textarea>
      <Remarks name={name} hint={hint} error={error} />
    </div>
  );
}

/** Something that is so or not. */
export function Check({
  name,
  label,
  isChecked,
  value,
}: Readonly<{ name: string; label: string; isChecked: boolean; value?: string }>): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value ?? 'true'} checked={isChecked} /> {label}
    </label>
  );
}

/** One of several. */
export function Choice({
  name,
  label,
  value,
  options,
  hint,
  errors,
}: Readonly<{
  name: string;
  label: string;
  value: string;
  options: readonly Readonly<{ value: string; text: string }>[];
  hint?: string;
  errors: FormErrors;
}>): JSX.Element {
  const error = errors[name];
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} aria-invalid={error === undefined ? undefined : 'true'}>
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.text}
          </option>
        ))}
      </select>
      <Remarks name={name} hint={hint} error={error} />
    </div>
  );
}

function Remarks({
  name,
  hint,
  error,
}: Readonly<{ name: string; hint: string | undefined; error: string | undefined }>): JSX.Element {
  return (
    <>
      {hint === undefined ? null : (
        <p class="hint" id={`${name}-hint`}>
          {hint}
        </p>
      )}
      {error === undefined ? null : (
        <p class="error" id={`${name}-error`}>
          <span aria-hidden="true">✕</span> {error}
        </p>
      )}
    </>
  );
}

/** A form that changes something: what is wrong with all of it, its fields, its button, and the way out. */
export function Form({
  action,
  errors,
  submit,
  cancel,
  isDangerous,
  children,
}: Readonly<{
  action: string;
  errors: FormErrors;
  submit: string;
  cancel?: string;
  isDangerous?: boolean;
  children?: ComponentChildren;
}>): JSX.Element {
  const whole = errors[''];
  return (
    <form class="form" method="post" action={action}>
      {whole === undefined ? null : (
        <p class="note bad" role="alert">
          <span aria-hidden="true">✕</span> {whole}
        </p>
      )}
      {children}
      <p class="actions">
        <button class={isDangerous === true ? 'danger' : 'primary'}>{submit}</button>
        {cancel === undefined ? null : <a href={cancel}>Cancel</a>}
      </p>
    </form>
  );
}

/** A button that posts by itself. `id` keeps the keyboard's focus where its part is fetched again. */
export function ActionButton({
  action,
  id,
  label,
  isDangerous,
  fields,
  press,
}: Readonly<{
  action: string;
  id: string;
  label: string;
  isDangerous?: boolean;
  fields?: Readonly<Record<string, string>>;
  /** The key that presses it. */
  press?: string;
}>): JSX.Element {
  return (
    <form class="inline" method="post" action={action}>
      {Object.entries(fields ?? {}).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      <button id={id} class={isDangerous === true ? 'danger' : undefined} data-press={press}>
        {label}
      </button>
    </form>
  );
}
