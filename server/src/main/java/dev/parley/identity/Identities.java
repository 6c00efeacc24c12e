package dev.parley.identity;

import dev.parley.runtime.Threads;
import dev.parley.runtime.Time;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/// The keys, people, shared contexts and tickets of a server, and the callers of their credentials.
///
/// All of them are in memory, so that no request waits for a database. For many threads.
public final class Identities implements IssuedCredentials, AutoCloseable {

  /// What the configuration says about identities.
  ///
  /// @param tokens the names of the tokens of the configuration, which nobody else may have
  /// @param acceptTenants the server may have other tenants than the default one
  public record IdentitySettings(Set<String> tokens, boolean acceptTenants) {

    public IdentitySettings {
      tokens = Set.copyOf(tokens);
    }
  }

  private final IdentityStore store;
  private final Set<String> tokens;
  private final Revocations revocations = new Revocations();
  private final People people;
  private final ApiKeys keys;
  private final PersonSignIns signIns;
  private final ContextShares shares;
  private final ExternalPeople externalPeople;
  private final Tickets tickets;

  /// Reads everything that was issued.
  ///
  public Identities(
      IdentityDatabase database,
      IdentitySettings settings,
      Time time,
      Threads threads,
      Supplier<String> ids) {
    this.tokens = settings.tokens();
    store = new IdentityStore(database, threads);
    var secrets = new Secrets(new SecureRandom());
    people = new People(store, revocations, settings.acceptTenants());
    keys = new ApiKeys(store, people, revocations, secrets, ids, time);
    signIns = new PersonSignIns(store, people, revocations, secrets, ids, time);
    shares = new ContextShares(store, people, revocations, secrets, ids, time);
    externalPeople = new ExternalPeople(store, people, signIns, this, time);
    tickets = new Tickets(secrets, time);
    var _ = revocations.listen(tickets::revoke);
  }

  public People people() {
    return people;
  }

  public ApiKeys keys() {
    return keys;
  }

  public PersonSignIns signIns() {
    return signIns;
  }

  public ContextShares shares() {
    return shares;
  }

  public ExternalPeople externalPeople() {
    return externalPeople;
  }

  public Tickets tickets() {
    return tickets;
  }

  @Override
  public Revocations revocations() {
    return revocations;
  }

  /// True if a token of the configuration or a key has this name, so that no person may have it.
  public boolean taken(String name) {
    return tokens.contains(name) || keys.actsFor(name);
  }

  @Override
  public Optional<Caller> find(String credential, InetAddress from) {
    if (credential.startsWith(Secrets.KEY)) {
      return keys.find(credential, from);
    }
    if (credential.startsWith(Secrets.SESSION)) {
      return signIns.find(credential, from);
    }
    return credential.startsWith(Secrets.LINK) ? shares.find(credential, from) : Optional.empty();
  }

  @Override
  public Optional<Caller> findTicket(String ticket, String path, InetAddress from) {
    return tickets.find(ticket, path, from);
  }

  @Override
  public void signOut(String credential) {
    if (credential.startsWith(Secrets.SESSION)) {
      signIns.endSecret(credential);
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
