package dev.parley.vault;

import dev.parley.vault.Credential.Renewal;
import dev.parley.vault.Pending.Flow;
import dev.parley.vault.TokenClient.Answer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The second half of an OAuth sign-in: from the browser's redirect to the token.
public final class OAuthFlow {

  /// The parameters of the redirect from an authorization server.
  public record Returned(String state, String code, String error, @Nullable String issuer) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "returned";
    }
  }

  private final Vault vault;
  private final TokenClient client;

  OAuthFlow(Vault vault, TokenClient client) {
    this.vault = vault;
    this.client = client;
  }

  /// Returns the name of a client registration in the vault. A registration is valid for one
  /// redirect URI.
  static String clientName(String issuer, String redirectUri) {
    return Contents.name(issuer, redirectUri);
  }

  /// Returns the sign-in that this redirect completes. Empty if the person denied it, or if state
  /// or issuer do not match.
  Optional<Pending> find(Returned returned) {
    if (returned.state().isEmpty() || returned.code().isEmpty() || !returned.error().isEmpty()) {
      return Optional.empty();
    }
    var now = vault.sources().clock().instant();
    return vault.contents().pending().values().stream()
        .filter(pending -> pending.expiresAt().isAfter(now) && fits(pending.flow(), returned))
        .findFirst();
  }

  private static boolean fits(@Nullable Flow flow, Returned returned) {
    return flow != null
        && same(flow.state(), returned.state())
        // RFC 9207: the redirect may come from another server than the one that the flow began
        // with.
        && (returned.issuer() == null || returned.issuer().equals(flow.issuer()));
  }

  private static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  /// Exchanges the code for a token. Empty if the authorization server rejects the code.
  Optional<Credential> exchange(Pending pending, String code) throws InterruptedException {
    var flow = pending.flow();
    if (flow == null) {
      return Optional.empty();
    }
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("grant_type", "authorization_code");
    parameters.put("code", code);
    parameters.put("redirect_uri", flow.redirectUri());
    parameters.put("code_verifier", flow.verifier());
    if (flow.resource() != null) {
      parameters.put("resource", flow.resource());
    }
    return switch (client.token(flow.tokenEndpoint(), flow.client(), parameters)) {
      case Answer.Done(var json) -> {
        var later =
            new Renewal("", flow.tokenEndpoint(), flow.client(), flow.resource(), flow.scopes());
        yield Tokens.read(json, later, vault.sources().clock().instant());
      }
      case Answer.Refused(var error) -> {
        if (error.equals("invalid_client")) {
          forget(flow);
        }
        yield Optional.empty();
      }
      case Answer.Unreachable _ -> Optional.empty();
    };
  }

  /// Removes a registration that the server no longer accepts. The next sign-in registers again.
  private void forget(Flow flow) {
    vault.change(
        now -> now.withClients(all -> all.remove(clientName(flow.issuer(), flow.redirectUri()))));
  }
}
