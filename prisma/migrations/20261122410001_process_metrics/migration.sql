-- What a process measured of itself, written with its heartbeat: one request to a web process tells of all processes (docs/decisions/050).
ALTER TABLE "process_heartbeat" ADD COLUMN "metrics" JSON;
