import { MAX_ENTRIES_OPTION, mustBe } from '../driver-kit/router-options.ts';
import { absolutePath, COMMAND_PREFIX_OPTION, word } from '../shell/shell-options.ts';

const SECONDS = 'a number of seconds from 5 to 600';

/** How BIRD is found on the router. */
export const BIRDC_OPTIONS = {
  max_entries: MAX_ENTRIES_OPTION,
  directory: absolutePath('an absolute path').default('/etc/bird/edgeward').meta({
    description: 'directory of the lists (/etc/bird/edgeward); bird.conf must have include "<directory>/*.conf";',
  }),
  socket: absolutePath('an absolute path')
    .default('/run/bird/bird.ctl')
    .meta({ description: "BIRD's control socket (/run/bird/bird.ctl)" }),
  birdc: word('the path of birdc, without blanks', /^[A-Za-z0-9_./][^\s\0]*$/)
    .default('birdc')
    .meta({ description: 'path of birdc on the router' }),
  command_prefix: COMMAND_PREFIX_OPTION,
  confirm_seconds: word(SECONDS, /^[1-9]\d{0,2}$/)
    .transform(Number)
    .refine((seconds) => seconds >= 5 && seconds <= 600, mustBe(SECONDS))
    .default(60)
    .meta({ description: 'BIRD goes back by itself when a change is not confirmed within so many seconds (60)' }),
};
