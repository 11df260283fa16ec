/** What can be switched on, by the number of the point it belongs to. */

export interface VariantInfo {
  /** One sentence that says what happens. */
  readonly about: string;
  /** What `ms` means for it, in milliseconds, and its value when none is given. */
  readonly ms?: { readonly means: string; readonly default: number };
}

export interface FaultInfo {
  readonly about: string;
  /** The first is taken when none is named. */
  readonly variants: Readonly<Record<string, VariantInfo>>;
  /** True when `on` may restrict it to certain routes. */
  readonly byRoute?: boolean;
}

const retryAfter = (value: number) => ({ means: "retry_after of the answer", default: value });

export const FAULTS = {
  D2: {
    about: "What the browser brings back from the authorize page when the person allowed the sign-in.",
    variants: {
      cancel: { about: "The error access_denied, as after Cancel." },
      invalid_scope: { about: "The error invalid_scope." },
      invalid_request: { about: "The error invalid_request." },
      server_error: { about: "The error server_error." },
      html_description: { about: "The error access_denied with HTML in error_description." },
      no_code: { about: "A redirect with the state and no code." },
      no_state: { about: "A redirect with a good code and no state." },
      wrong_state: { about: "A redirect with a good code and another state." },
      wrong_code: { about: "A redirect with a code that the token endpoint does not know." },
      expired_code: { about: "A redirect with a code whose time is over." },
    },
  },
  D4: {
    about: "The token endpoint refuses the client.",
    variants: { invalid_client: { about: "401 invalid_client for the right secret, as after it was reset." } },
  },
  D5: {
    about: "The token endpoint refuses the code.",
    variants: { invalid_grant: { about: "400 invalid_grant for a good code, as when its time is over." } },
  },
  D7: {
    about: "The token answer is not what was asked for.",
    variants: {
      no_identify: { about: "The granted scope lacks identify." },
      no_scope: { about: "The field scope is missing." },
      no_token: { about: "The field access_token is missing." },
    },
  },
  D8: {
    about: "Revoking fails, and the tokens stay good.",
    variants: {
      unavailable: { about: "503 with a JSON error." },
      refused: { about: "400 invalid_request." },
    },
  },
  D9: {
    about: "The identity read with a user's token has an unusual form.",
    variants: {
      null_global_name: { about: "global_name is null." },
      null_avatar: { about: "avatar is null." },
      missing_fields: { about: "Only id, username, discriminator, global_name and avatar are there." },
      legacy_name: { about: "An old name with spaces, capitals and a four-digit discriminator." },
      direction_characters: { about: "A display name with control and direction characters." },
      bad_token: { about: "401 for a good token." },
    },
  },
  D10: {
    about: "The bot token is refused, as after it was reset.",
    variants: {
      unauthorized: { about: "401 with code 0." },
      "40001": { about: "401 with code 40001." },
      "50014": { about: "401 with code 50014." },
    },
    byRoute: true,
  },
  D12: {
    about: "Guild routes answer differently when the bot is not in the guild.",
    variants: { missing_access: { about: "403 50001 Missing Access in place of 404 10004 Unknown Guild." } },
    byRoute: true,
  },
  D15: {
    about: "The member search looks at more.",
    variants: { global_names: { about: "It also finds members by their global_name." } },
  },
  D18: {
    about: "Changes of the world show late (eventual consistency).",
    variants: {
      delayed: {
        about: "A change made while this is on is seen only after some time.",
        ms: { means: "time until it is seen", default: 3_000 },
      },
    },
  },
  D19: {
    about: "Rate limited: 429.",
    variants: {
      short: { about: "Scope user, a short wait.", ms: retryAfter(650) },
      long: { about: "Scope user, a long wait.", ms: retryAfter(64_570) },
      global: { about: "Scope global, with the global header.", ms: retryAfter(1_250) },
      shared: { about: "Scope shared; does not count as an invalid answer.", ms: retryAfter(2_500) },
      html: { about: "A ban by the network in front: HTML without any rate-limit header." },
      buckets: { about: "The limits that the headers tell are enforced." },
    },
    byRoute: true,
  },
  D20: {
    about: "The answer is broken, late or not there.",
    variants: {
      "500": { about: "500 with a JSON error." },
      "502": { about: "502 with an HTML page." },
      "503": { about: "503 with an HTML page." },
      "html-200": { about: "200 with an HTML page." },
      "broken-json": { about: "200 with a JSON content type and half a body." },
      empty: { about: "200 with a JSON content type and an empty body." },
      cut: { about: "The connection is cut without an answer." },
      "cut-body": { about: "The connection is cut in the middle of the body." },
      "404-without-code": { about: "404 with JSON that has no code." },
      "404-html": { about: "404 with an HTML page." },
      slow: {
        about: "The right answer, but late.",
        ms: { means: "wait before the answer", default: 60_000 },
      },
    },
    byRoute: true,
  },
} as const satisfies Record<string, FaultInfo>;

export type FaultId = keyof typeof FAULTS;
export type VariantOf<F extends FaultId> = keyof typeof FAULTS[F]["variants"] & string;

/** The catalogue as plain data, for lists and look-ups by a name that came from outside. */
export const CATALOGUE: Readonly<Record<string, FaultInfo>> = FAULTS;
