package dev.parley.log;

/// Forks on PostgreSQL.
final class PostgresLogForkTest extends ForkContract {

  @Override
  EventLog open() {
    return TestPostgres.open(TestPostgres.createDatabase());
  }
}
