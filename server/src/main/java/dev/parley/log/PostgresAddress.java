package dev.parley.log;

import dev.parley.protocol.Rejection;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The address of a PostgreSQL database, with the user and the password to sign in.
///
/// `hosts` may name several servers (`a:5432,b:5432`), of which the driver uses the primary.
public record PostgresAddress(
    String hosts,
    String database,
    String user,
    @Nullable String password,
    Map<String, String> options) {

  private static final Pattern FORM =
      Pattern.compile("postgres(?:ql)?://(?:([^@/?]*)@)?([^/?@]*)(?:/([^/?]*))?(?:\\?(.*))?");
  private static final Pattern HOST =
      Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9A-Fa-f:.]+])(?::\\d{1,5})?");

  /// The options that an address may set, with their names in the driver.
  private static final Map<String, String> OPTIONS =
      Map.of(
          "sslmode", "sslmode",
          "sslrootcert", "sslrootcert",
          "sslcert", "sslcert",
          "sslkey", "sslkey",
          "sslpassword", "sslpassword",
          "channel_binding", "channelBinding");

  /// Options in the addresses of hosted databases that make no difference: Parley sets them itself.
  private static final Set<String> IGNORED =
      Set.of(
          "application_name",
          "connect_timeout",
          "keepalives",
          "keepalives_count",
          "keepalives_idle",
          "keepalives_interval");

  /// Parley always uses the primary.
  private static final Set<String> SESSIONS = Set.of("any", "primary", "read-write");

  private static final String EXAMPLE = "postgresql://user@host:5432/database";

  public PostgresAddress {
    options = Map.copyOf(options);
  }

  /// Parses `postgresql://user:password@host:port/database?sslmode=…`. `PGUSER` and `PGPASSWORD` of
  /// `environment` are used for what the text does not contain.
  ///
  /// @throws Rejection.Invalid if the text is no such address; the message does not repeat it,
  ///     because it may contain a password
  public static PostgresAddress parse(String text, Map<String, String> environment) {
    var parts = FORM.matcher(text);
    if (!parts.matches()) {
      throw invalid("it must have the form " + EXAMPLE);
    }
    var login = Optional.ofNullable(parts.group(1)).orElse("").split(":", 2);
    var user = decode(login[0]);
    var password = login.length > 1 ? decode(login[1]) : environment.get("PGPASSWORD");
    var hosts = parts.group(2).isEmpty() ? "localhost" : parts.group(2);
    for (var host : hosts.split(",", -1)) {
      if (!HOST.matcher(host).matches()) {
        throw invalid("a host is malformed; it must have the form " + EXAMPLE);
      }
    }
    if (user.isEmpty()) {
      user = environment.getOrDefault("PGUSER", System.getProperty("user.name"));
    }
    var database = decode(Optional.ofNullable(parts.group(3)).orElse(""));
    return new PostgresAddress(
        hosts, database.isEmpty() ? user : database, user, password, options(parts.group(4)));
  }

  private static Map<String, String> options(@Nullable String query) {
    var options = new TreeMap<String, String>();
    if (query != null && !query.isEmpty()) {
      for (var pair : query.split("&", -1)) {
        var name = pair.split("=", 2);
        var option = OPTIONS.get(name[0]);
        if (name.length == 2 && option != null) {
          options.put(option, decode(name[1]));
        } else if (name.length < 2 || !makesNoDifference(name[0], name[1])) {
          throw invalid("its options are " + String.join(", ", new TreeSet<>(OPTIONS.keySet())));
        }
      }
    }
    return options;
  }

  private static boolean makesNoDifference(String option, String value) {
    return IGNORED.contains(option)
        || (option.equals("target_session_attrs") && SESSIONS.contains(value));
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException malformed) {
      throw invalid("a character is not encoded correctly");
    }
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static Rejection.Invalid invalid(String why) {
    return new Rejection.Invalid(
        "invalid-database", "the address of the database is not valid: " + why);
  }

  String jdbcUrl() {
    return "jdbc:postgresql://" + hosts + "/" + encode(database);
  }

  Properties properties() {
    var properties = new Properties();
    properties.putAll(options);
    properties.setProperty("user", user);
    if (password != null) {
      properties.setProperty("password", password);
    }
    return properties;
  }

  /// The address without the password.
  @Override
  public String toString() {
    return "postgresql://" + encode(user) + "@" + hosts + "/" + encode(database);
  }
}
