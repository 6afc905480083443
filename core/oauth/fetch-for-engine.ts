/** How the engine fetches a client's `jwks_uri`: through the guard, like everything that goes to an address somebody else chose (S77). */
export const fetchForEngine: typeof fetch = async () => {
  throw new Error("core/outbound is being written");
};
