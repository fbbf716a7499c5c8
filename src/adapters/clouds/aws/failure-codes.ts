import type { CloudFailureCode } from '../../../ports/clouds.ts';

/** EC2's codes, by its error page and by what Karpenter has seen. A trailing `*` stands for any ending. */
const CODES: Readonly<Record<string, CloudFailureCode>> = {
  InsufficientInstanceCapacity: 'no-capacity',
  InsufficientHostCapacity: 'no-capacity',
  InsufficientReservedInstanceCapacity: 'no-capacity',
  InsufficientFreeAddressesInSubnet: 'no-capacity',
  UnfulfillableCapacity: 'no-capacity',
  SpotMaxPriceTooLow: 'no-capacity',
  Unsupported: 'no-capacity',
  VcpuLimitExceeded: 'quota-exceeded',
  InstanceLimitExceeded: 'quota-exceeded',
  MaxSpotInstanceCountExceeded: 'quota-exceeded',
  MaxFleetCountExceeded: 'quota-exceeded',
  VolumeLimitExceeded: 'quota-exceeded',
  RequestLimitExceeded: 'throttled',
  Throttling: 'throttled',
  ThrottlingException: 'throttled',
  AuthFailure: 'login-refused',
  InvalidClientTokenId: 'login-refused',
  SignatureDoesNotMatch: 'login-refused',
  ExpiredToken: 'login-refused',
  RequestExpired: 'login-refused',
  MissingAuthenticationToken: 'login-refused',
  UnauthorizedOperation: 'not-permitted',
  'AuthFailure.ServiceLinkedRoleCreationNotPermitted': 'not-permitted',
  OptInRequired: 'not-permitted',
  OperationNotPermitted: 'end-refused',
  'InvalidAMIID.*': 'bad-specifications',
  InvalidInstanceType: 'bad-specifications',
  'InvalidInstanceType.*': 'bad-specifications',
  'InvalidSubnetID.*': 'bad-specifications',
  'InvalidSubnet.*': 'bad-specifications',
  'InvalidGroup.*': 'bad-specifications',
  'InvalidSecurityGroupID.*': 'bad-specifications',
  'InvalidKeyPair.*': 'bad-specifications',
  'InvalidParameter*': 'bad-specifications',
  'InvalidUserData.*': 'bad-specifications',
  InvalidBlockDeviceMapping: 'bad-specifications',
  // The launch's own, of a moment ago: EC2 does not show it everywhere yet, and no edit of the pool would change that.
  'InvalidLaunchTemplateName.NotFoundException': 'rejected',
  'InvalidLaunchTemplateId.NotFound': 'rejected',
  'InvalidLaunchTemplate*': 'bad-specifications',
  UnknownParameter: 'bad-specifications',
  MissingParameter: 'bad-specifications',
  IdempotentInstanceTerminated: 'instance-gone',
  // An instance of that token may exist, with other parameters.
  IdempotentParameterMismatch: 'outcome-unknown',
  InternalError: 'outcome-unknown',
  InternalFailure: 'outcome-unknown',
  Unavailable: 'outcome-unknown',
  ServiceUnavailable: 'outcome-unknown',
};

/** What a code of EC2's means here; one that is not known is uncertain where the status says that EC2 itself failed, and refused otherwise. */
export function failureCodeOf(code: string, status: number): CloudFailureCode {
  const exact = Object.hasOwn(CODES, code) ? CODES[code] : undefined;
  if (exact !== undefined) return exact;
  const [, begins] =
    Object.entries(CODES).find(([name]) => name.endsWith('*') && code.startsWith(name.slice(0, -1))) ?? [];
  return begins ?? (status >= 500 ? 'outcome-unknown' : 'rejected');
}

/** Of a fleet that got no instance: one code for all that it tried. What is no lack of capacity is told first. */
export function failureCodeOfAll(codes: readonly string[]): CloudFailureCode {
  // Each is an error of one template, inside an answer that was given: nothing of it is uncertain.
  const ours = codes.map((code) => failureCodeOf(code, 400));
  return ours.find((code) => code !== 'no-capacity') ?? 'no-capacity';
}
