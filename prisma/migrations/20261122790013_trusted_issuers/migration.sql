-- Whether anybody here trusts an issuer is asked for every CI token that is sent, whoever it is for (S136).
CREATE INDEX "trusted_publisher_issuer_idx" ON "trusted_publisher" USING HASH ("issuer");
