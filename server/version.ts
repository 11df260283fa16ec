/** The program's version; it stands in the User-Agent of every call it makes. */
export const VERSION = "0.1.0";
