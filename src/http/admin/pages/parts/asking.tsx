import type { Crumb, Page } from '../page.ts';
import { Form } from './form.tsx';

/** A page that asks once more before what can't be undone: what comes of it, the button that does it, and the way back. */
export function askingPage({
  title,
  crumbs,
  says,
  action,
  submit,
  cancel,
}: Readonly<{
  title: string;
  crumbs: readonly Crumb[];
  /** What comes of it, a paragraph each. */
  says: readonly string[];
  action: string;
  submit: string;
  cancel: string;
}>): Page {
  return {
    title,
    crumbs,
    body: (
      <>
        {says.map((text) => (
          <p key={text}>{text}</p>
        ))}
        <Form action={action} errors={{}} submit={submit} cancel={cancel} isDangerous />
      </>
    ),
  };
}

/** In its place, where there is nothing to be done. */
export function nothingToAskPage({
  title,
  crumbs,
  says,
  back,
}: Readonly<{ title: string; crumbs: readonly Crumb[]; says: string; back: string }>): Page {
  return {
    title,
    crumbs,
    body: (
      <>
        <p>{says}</p>
        <p>
          <a href={back}>Back</a>
        </p>
      </>
    ),
  };
}
