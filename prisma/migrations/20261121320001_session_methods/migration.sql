-- How the person of a session proved who they are, in the words of RFC 8176; apps read it as `amr`. Sessions from before this
-- migration began with a password: there was nothing else.
ALTER TABLE "site_session" ADD COLUMN "methods" TEXT[] DEFAULT ARRAY['pwd']::TEXT[];
