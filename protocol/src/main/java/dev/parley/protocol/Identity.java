package dev.parley.protocol;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The records of the API for keys, people, groups and shared contexts. A list that is null in a
/// request has its default.
public final class Identity {

  private Identity() {}

  /// Who the caller is, and what the credential permits.
  public record CallerView(
      String principal,
      String kind,
      String tenant,
      List<String> groups,
      List<String> roles,
      List<String> scopes) {
    public CallerView {
      groups = List.copyOf(groups);
      roles = List.copyOf(roles);
      scopes = List.copyOf(scopes);
    }
  }

  /// A key to create. `principal` is for whom it acts; without it, for the caller, or, if an
  /// administrator creates it, for a principal with the name of the key. Without `expiresAt`, it
  /// does not expire.
  public record NewKey(
      String name,
      @Nullable String principal,
      @Nullable List<String> scopes,
      @Nullable List<String> agents,
      @Nullable List<String> contexts,
      @Nullable Instant expiresAt) {}

  /// A key. Only the reply to its creation has the `secret`.
  public record KeyView(
      String id,
      String name,
      String principal,
      String tenant,
      List<String> scopes,
      List<String> agents,
      List<String> contexts,
      String createdBy,
      Instant createdAt,
      @Nullable Instant expiresAt,
      @Nullable Instant lastUsedAt,
      @Nullable String secret) {
    public KeyView {
      scopes = List.copyOf(scopes);
      agents = List.copyOf(agents);
      contexts = List.copyOf(contexts);
    }
  }

  /// A person.
  public record PersonView(
      String name,
      @Nullable String displayName,
      String tenant,
      List<String> roles,
      List<String> groups,
      boolean disabled,
      Instant createdAt,
      @Nullable Instant lastSignInAt) {
    public PersonView {
      roles = List.copyOf(roles);
      groups = List.copyOf(groups);
    }
  }

  /// A change of a person; null values stay as they are.
  public record PersonChange(
      @Nullable String displayName,
      @Nullable List<String> roles,
      @Nullable List<String> groups,
      @Nullable Boolean disabled) {}

  /// An invitation to create. Without `name`, the invited person chooses one.
  public record NewInvitation(
      @Nullable String name,
      @Nullable String tenant,
      @Nullable List<String> roles,
      @Nullable List<String> groups,
      @Nullable Instant expiresAt) {}

  /// An invitation. Only the reply to its creation has the `url`, which contains the secret.
  public record InvitationView(
      String id,
      @Nullable String name,
      String tenant,
      List<String> roles,
      List<String> groups,
      String createdBy,
      Instant expiresAt,
      @Nullable String url) {
    public InvitationView {
      roles = List.copyOf(roles);
      groups = List.copyOf(groups);
    }
  }

  /// A sign-in of a person, on one device.
  public record SignInView(
      String id,
      String method,
      String address,
      Instant createdAt,
      Instant expiresAt,
      boolean current) {}

  /// With whom to share a context: exactly one of `person`, `group` and `link`. `level` is `view` or
  /// `write`; a link is always for reading.
  public record NewShare(
      @Nullable String person,
      @Nullable String group,
      @Nullable Boolean link,
      @Nullable String level,
      @Nullable Instant expiresAt) {}

  /// With whom a context is shared. Only the reply to the creation of a link has its `secret`.
  public record ShareView(
      String id,
      ContextId contextId,
      @Nullable String person,
      @Nullable String group,
      boolean link,
      String level,
      String createdBy,
      Instant createdAt,
      @Nullable Instant expiresAt,
      @Nullable String secret) {}
}
