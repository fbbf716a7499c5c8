const LONGEST = 2048;

/**
 * What is wrong with a webhook URL as it is configured, as the end of "the webhook URL …", or `undefined` when it will do.
 * Where it leads is looked at when a connection is made, as names change their addresses.
 */
export function checkWebhookUrl(text: string): string | undefined {
  if (text.length > LONGEST) return `must have at most ${LONGEST} characters`;
  if (/[\s\p{Cc}]/u.test(text)) return 'must not hold spaces or control characters';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The parser also takes "https:host" and "https:\\host", which no operator means.
  if (url === undefined || !/^https?:\/\/[^/\\]/i.test(text)) {
    return 'must be an absolute http: or https: URL, such as https://hooks.example.com/edgeward';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not hold a user name or password; deliveries are signed instead';
  }
  return undefined;
}
