import type { JSX } from 'preact';
import { ActionButton } from '../parts/form.tsx';

/** Deploys a list without waiting for its quiet period, or for the next try. */
export function RunButton({
  of: { customerId, regionId, list },
  label,
}: Readonly<{
  of: Readonly<{ customerId: number; regionId: number; list: string }>;
  label: string;
}>): JSX.Element {
  return (
    <ActionButton
      action="/admin/commits/run"
      id={`run-${customerId}-${regionId}-${list}`}
      label={label}
      fields={{ customer: String(customerId), region: String(regionId), list }}
    />
  );
}
