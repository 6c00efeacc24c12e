package dev.parley.door;

import dev.parley.log.Guard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.tool.process.ProcessCheck;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A request that has passed the guards at the door, and what its route takes from it.
///
/// For one thread: the body is read when it is first asked for.
public final class Request {

  private static final int PAGE_USUAL = 100;
  private static final List<String> PROXIED =
      List.of("X-Forwarded-Proto", "X-Forwarded-For", "Forwarded", "Via");

  /// What the transport knows of a request.
  record Parts(
      String method,
      String path,
      String principal,
      Map<String, String> variables,
      Map<String, String> query,
      ProcessCheck.Connection peer) {

    boolean fromHere() {
      return peer.remote().getAddress().isLoopbackAddress();
    }
  }

  private final Parts parts;
  private final Function<String, @Nullable String> headers;
  private final Body body;
  private final OnHold.Connection connection;

  Request(
      Parts parts,
      Function<String, @Nullable String> headers,
      Body body,
      OnHold.Connection connection) {
    this.parts = parts;
    this.headers = headers;
    this.body = body;
    this.connection = connection;
  }

  /// Has the caller wait for an answer that takes its time.
  ///
  /// @throws Rejection.Busy if too many wait already
  public OnHold hold(Streams streams) {
    return new OnHold(connection, streams);
  }

  /// Who is asking.
  public String principal() {
    return parts.principal();
  }

  /// The address that the connection came from.
  public InetAddress remoteAddress() {
    return parts.peer().remote().getAddress();
  }

  /// The connection that it came on.
  public ProcessCheck.Connection peer() {
    return parts.peer();
  }

  /// The path as it was asked for.
  public String path() {
    return parts.path();
  }

  /// What stands in the path for `{name}`.
  public String path(String name) {
    var value = parts.variables().get(name);
    if (value == null) {
      throw new IllegalArgumentException("the route has no variable " + name);
    }
    return value;
  }

  /// What stands in the path for `{name}`, if the route has it.
  public Optional<String> variable(String name) {
    return Optional.ofNullable(parts.variables().get(name));
  }

  /// The context that the path names with `{c}`.
  public ContextId context() {
    return new ContextId(path("c"));
  }

  /// True if the caller came over TLS, which ends at a proxy before us.
  boolean secure() {
    return header("X-Forwarded-Proto").filter("https"::equalsIgnoreCase).isPresent();
  }

  /// True if nobody can listen on the way: over TLS, or from this machine with no proxy between.
  public boolean confidential() {
    return secure() || (parts.fromHere() && PROXIED.stream().noneMatch(this::sent));
  }

  private boolean sent(String name) {
    return header(name).isPresent();
  }

  /// A header's value, if it was sent.
  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.apply(name));
  }

  /// A query parameter, if it was given.
  public Optional<String> query(String name) {
    return Optional.ofNullable(parts.query().get(name));
  }

  /// How many items are wanted: at most [Limits#PAGE_MAX].
  public int limit() {
    return number("limit", 1).map(n -> (int) Math.min(n, Limits.PAGE_MAX)).orElse(PAGE_USUAL);
  }

  /// A query parameter that is a whole number of at least `min`, if it was given.
  public Optional<Long> number(String name, long min) {
    return query(name)
        .map(
            text -> {
              try {
                var number = Long.parseLong(text);
                if (number >= min) {
                  return number;
                }
              } catch (NumberFormatException notANumber) {
                // Falls through to the one answer for everything that does not fit.
              }
              throw new Rejection.Invalid(name + " must be a whole number of at least " + min);
            });
  }

  /// A query parameter that is `true` or `false`; false if it was not given.
  public boolean flag(String name) {
    return flag(name, query(name));
  }

  static boolean flag(String name, Optional<String> given) {
    var text = given.orElse("false");
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new Rejection.Invalid(name + " must be true or false");
    };
  }

  /// True if the caller wants this type of content rather than any.
  public boolean wants(String contentType) {
    return header("Accept").map(accept -> accept.contains(contentType)).orElse(false);
  }

  /// The body as a record.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or does not fit
  /// @throws Rejection.TooLarge if it is larger than the limit
  public <T> T body(Class<T> type) {
    return Json.read(body.json(header("Content-Type").orElse("")), type);
  }

  /// The bytes of a body that was sent as one of these media types, and is UTF-8 that can be stored.
  ///
  /// @throws Rejection.Invalid if it is not UTF-8
  /// @throws Rejection.TooLarge if it is larger than the limit
  public byte[] json(Set<String> types) {
    return body.json(header("Content-Type").orElse(""), types);
  }

  /// The body as text.
  ///
  /// @throws Rejection.Invalid if it is not UTF-8
  /// @throws Rejection.TooLarge if it is larger than the limit
  public String text() {
    return Body.decode(body.bytes());
  }

  /// A hash of the body, to tell whether two requests are the same.
  public String bodyHash() {
    return Hash.hex(parts.method() + " " + parts.path() + "\n", body.bytes());
  }

  /// What the caller calls this request, to be able to send it twice.
  public Optional<String> idempotencyKey() {
    var key = header("Idempotency-Key");
    key.ifPresent(
        text -> {
          if (text.isBlank()
              || text.length() > Limits.KEY_CHARACTERS
              || !text.chars().allMatch(c -> c > 0x20 && c < 0x7f)) {
            throw new Rejection.Invalid(
                "invalid-idempotency-key",
                "Idempotency-Key must be 1 to "
                    + Limits.KEY_CHARACTERS
                    + " visible ASCII characters");
          }
        });
    return key;
  }

  /// Lets what this request appends happen once, if the caller has named the request.
  public Guard once() {
    return idempotencyKey()
        .<Guard>map(key -> new Guard.Once(principal(), key, bodyHash()))
        .orElseGet(Guard::none);
  }
}
