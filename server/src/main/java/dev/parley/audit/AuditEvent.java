package dev.parley.audit;

import dev.parley.protocol.WireName;
import java.util.Map;
import java.util.TreeMap;

/// Something that somebody did or tried to do.
///
/// It contains no content of conversations, and no secret.
///
/// @param actor who did it
/// @param action what was done, in kebab-case, such as `sign-in` or `context-deleted`
/// @param target what it was done to, such as `context:c-1`; empty if it was the server
/// @param result whether it was done
/// @param code the reason of a refusal or failure, as the caller got it; empty if there was none
/// @param details further facts
public record AuditEvent(
    Actor actor,
    String action,
    String target,
    Result result,
    String code,
    Map<String, String> details) {

  /// The longest text of a field. Longer ones are cut.
  static final int TEXT_MAX = 500;

  private static final int DETAILS_MAX = 20;

  /// Who acts.
  ///
  /// @param principal the name that the log of events records
  /// @param kind the kind of credential, such as `token` or `key`
  /// @param credential the id of the credential, which is not secret; empty if there is none
  /// @param tenant the tenant of the principal
  /// @param address the address of the client; empty if the server itself acts
  public record Actor(
      String principal, String kind, String credential, String tenant, String address) {

    /// The server itself.
    public static final Actor SERVER = new Actor("server", "server", "", "", "");

    public Actor {
      principal = cut(principal);
      kind = cut(kind);
      credential = cut(credential);
      tenant = cut(tenant);
      address = cut(address);
    }
  }

  /// The result of an act.
  public enum Result implements WireName {
    SUCCEEDED,
    /// The actor may not do it.
    REFUSED,
    /// It was not possible.
    FAILED
  }

  public AuditEvent {
    action = cut(action);
    target = cut(target);
    code = cut(code);
    var kept = new TreeMap<String, String>();
    details.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .limit(DETAILS_MAX)
        .forEach(detail -> kept.put(cut(detail.getKey()), cut(detail.getValue())));
    details = Map.copyOf(kept);
  }

  /// Something that was done.
  public static AuditEvent done(Actor actor, String action, String target) {
    return new AuditEvent(actor, action, target, Result.SUCCEEDED, "", Map.of());
  }

  /// The same with another detail.
  public AuditEvent with(String name, String value) {
    var more = new TreeMap<>(details);
    more.put(name, value);
    return new AuditEvent(actor, action, target, result, code, more);
  }

  private static String cut(String text) {
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX - 1) + "…";
  }
}
