package dev.parley.http;

import dev.parley.http.BlockingCall.JettyConnection;
import dev.parley.identity.Action;
import dev.parley.identity.Caller;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.tool.process.ClientProcessCheck;
import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// An authenticated request, as routes see it.
///
/// For one thread: the body is read on first use.
public final class Request {

  private static final int PAGE_USUAL = 100;
  private static final List<String> PROXY_HEADERS =
      List.of("X-Forwarded-Proto", "X-Forwarded-For", "Forwarded", "Via");

  /// The data of a request, except headers and body.
  record RequestData(
      String method,
      String path,
      Caller caller,
      Action action,
      Map<String, String> variables,
      Map<String, String> query,
      ClientProcessCheck.TcpConnection peer,
      RequestSource source) {

    boolean fromLoopback() {
      return peer.remote().getAddress().isLoopbackAddress();
    }
  }

  private final RequestData requestData;
  private final Function<String, @Nullable String> headers;
  private final RequestBody requestBody;
  private final JettyConnection connection;
  private @Nullable Caller signedIn;
  private String signInProblem = "";

  Request(
      RequestData requestData,
      Function<String, @Nullable String> headers,
      RequestBody requestBody,
      JettyConnection connection) {
    this.requestData = requestData;
    this.headers = headers;
    this.requestBody = requestBody;
    this.connection = connection;
  }

  /// Starts a blocking call: a reply that takes long, with detection of a disconnect.
  ///
  /// @throws Rejection.Busy if there are too many streams and blocking calls
  public BlockingCall blockingCall(OpenStreams openStreams) {
    return new BlockingCall(connection, openStreams);
  }

  /// The name of the authenticated caller, as the log records it.
  public String principal() {
    return requestData.caller().principal();
  }

  /// The authenticated caller.
  public Caller caller() {
    return requestData.caller();
  }

  /// Notes whom the request has signed in, for the audit trail. Changes nothing that the request may
  /// do.
  public void noteSignIn(Caller caller) {
    signedIn = caller;
  }

  /// Notes why the request has signed nobody in, for the audit trail.
  public void noteSignInProblem(String code) {
    signInProblem = code;
  }

  /// Why the request has signed nobody in; empty if it did, or is no sign-in.
  String signInProblem() {
    return signInProblem;
  }

  /// Whom the request has signed in, or else its caller.
  Caller signedInOrCaller() {
    return signedIn == null ? caller() : signedIn;
  }

  /// What the request does to the context that it names, according to its route.
  public Action action() {
    return requestData.action();
  }

  /// The caller's address: the other side of the connection, or what a trusted proxy says.
  public InetAddress remoteAddress() {
    return requestData.source().address();
  }

  /// Where the request comes from.
  public RequestSource source() {
    return requestData.source();
  }

  /// The TCP connection of the request, which may be that of a proxy.
  public ClientProcessCheck.TcpConnection peer() {
    return requestData.peer();
  }

  /// The path, undecoded.
  public String path() {
    return requestData.path();
  }

  /// The value of `{name}` in the path.
  public String path(String name) {
    var value = requestData.variables().get(name);
    if (value == null) {
      throw new IllegalArgumentException("the route has no variable " + name);
    }
    return value;
  }

  /// The value of `{name}` in the path, if the route has this variable.
  public Optional<String> variable(String name) {
    return Optional.ofNullable(requestData.variables().get(name));
  }

  /// The context that the path names with `{c}`.
  public ContextId context() {
    return new ContextId(path("c"));
  }

  /// True if the caller used TLS, which this server or a trusted proxy terminates.
  public boolean secure() {
    return requestData.source().encrypted();
  }

  /// True if others cannot read the request in transit: over TLS, or from this machine without a
  /// proxy.
  public boolean confidential() {
    return secure() || (requestData.fromLoopback() && PROXY_HEADERS.stream().noneMatch(this::sent));
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
    return Optional.ofNullable(requestData.query().get(name));
  }

  /// The requested number of items: at most [HttpLimits#PAGE_MAX].
  public int limit() {
    return number("limit", 1).map(n -> (int) Math.min(n, HttpLimits.PAGE_MAX)).orElse(PAGE_USUAL);
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
                // Falls through to the rejection below.
              }
              throw new Rejection.Invalid(name + " must be a whole number of at least " + min);
            });
  }

  /// A query parameter that is `true` or `false`; false if it was not given.
  public boolean flag(String name) {
    return flag(name, query(name));
  }

  /// The value of a flag; false if it is not given.
  public static boolean flag(String name, Optional<String> given) {
    var text = given.orElse("false");
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new Rejection.Invalid(name + " must be true or false");
    };
  }

  /// True if `Accept` names this content type.
  public boolean wants(String contentType) {
    return header("Accept").map(accept -> accept.contains(contentType)).orElse(false);
  }

  /// The body as a record.
  ///
  /// @throws Rejection.Invalid if it is not JSON, or does not match the record
  /// @throws Rejection.TooLarge if it is larger than the limit
  public <T> T body(Class<T> type) {
    return Json.read(requestBody.json(header("Content-Type").orElse("")), type);
  }

  /// The bytes of a body of one of these media types, checked to be valid UTF-8.
  ///
  /// @throws Rejection.Invalid if it is not UTF-8
  /// @throws Rejection.TooLarge if it is larger than the limit
  public byte[] json(Set<String> types) {
    return requestBody.json(header("Content-Type").orElse(""), types);
  }

  /// The body as text.
  ///
  /// @throws Rejection.Invalid if it is not UTF-8
  /// @throws Rejection.TooLarge if it is larger than the limit
  public String text() {
    return RequestBody.decode(requestBody.bytes());
  }

  /// A hash of method, path and body, to detect whether two requests are the same.
  public String bodyHash() {
    return Sha256.hex(requestData.method() + " " + requestData.path() + "\n", requestBody.bytes());
  }

  /// The idempotency key, with which a caller may repeat the request safely.
  public Optional<String> idempotencyKey() {
    var key = header("Idempotency-Key");
    key.ifPresent(
        text -> {
          if (text.isBlank()
              || text.length() > HttpLimits.KEY_CHARACTERS
              || !text.chars().allMatch(c -> c > 0x20 && c < 0x7f)) {
            throw new Rejection.Invalid(
                "invalid-idempotency-key",
                "Idempotency-Key must be 1 to "
                    + HttpLimits.KEY_CHARACTERS
                    + " visible ASCII characters");
          }
        });
    return key;
  }

  /// A guard that lets the request append only once, if it has an idempotency key.
  public AppendGuard idempotencyGuard() {
    return idempotencyKey()
        .<AppendGuard>map(key -> new AppendGuard.IdempotencyKey(principal(), key, bodyHash()))
        .orElseGet(AppendGuard::none);
  }
}
