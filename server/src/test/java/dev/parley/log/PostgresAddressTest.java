package dev.parley.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.protocol.Rejection;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The address of a database, as people and hosted databases write it.
final class PostgresAddressTest {

  private static PostgresAddress parse(String url) {
    return PostgresAddress.parse(url, Map.of());
  }

  @Test
  void a_database_may_have_any_name() throws SQLException {
    var url = TestPostgres.createDatabase();
    var name = "a?b%c/d e+f&g=1";
    try (var connection = new PostgresDatabase(parse(url)).connect()) {
      Jdbc.execute(connection, "CREATE DATABASE \"" + name + "\"");
    }
    var encoded = url.substring(0, url.lastIndexOf('/')) + "/a%3Fb%25c%2Fd%20e+f%26g%3D1";

    try (var connection = new PostgresDatabase(parse(encoded)).connect()) {
      assertThat(Jdbc.list(connection, "SELECT current_database()", row -> row.getString(1)))
          .containsExactly(name);
    }
    assertThat(parse(parse(encoded).toString())).isEqualTo(parse(encoded));
  }

  @Test
  void the_addresses_of_hosted_databases_are_accepted() {
    var address =
        parse(
            "postgresql://u:p@db.example.org/d?sslmode=require&channel_binding=require"
                + "&target_session_attrs=read-write&connect_timeout=10&application_name=x"
                + "&keepalives=1&keepalives_idle=30&keepalives_interval=10&keepalives_count=3");

    assertThat(address.options())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("sslmode", "require", "channelBinding", "require"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"target_session_attrs=standby", "options=-c%20x", "ssl", "connect_timeout"})
  void other_options_are_rejected(String option) {
    assertThatThrownBy(() -> parse("postgresql://u@h/d?" + option))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("its options are channel_binding, sslcert,");
  }
}
