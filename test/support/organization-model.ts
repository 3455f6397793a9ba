/** What a request must be answered with; `done` is called with the answer's data if it succeeds. */
export interface Expected {
  readonly status: number;
  readonly done?: (data: { readonly id: string }) => void;
}

interface ModelMember {
  readonly email: string;
  readonly role: string;
}

interface ModelWorkspace {
  readonly slug: string;
  readonly name: string;
  /** The ids of users; of the default one, the members of the organization are. */
  readonly members: ReadonlySet<string>;
}

interface ModelKey {
  readonly name: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly disabled: boolean;
}

/** The rules of an organization in their simplest form: what one caller after the other sees of it. All by id. */
export class OrganizationModel {
  readonly members = new Map<string, ModelMember>();
  readonly workspaces = new Map<string, ModelWorkspace>();
  readonly keys = new Map<string, ModelKey>();
  readonly #ownerId: string;
  readonly #defaultId: string;

  /** The organization of an admin who administers it, with an empty default workspace. */
  constructor(ownerId: string, defaultId: string) {
    this.#ownerId = ownerId;
    this.#defaultId = defaultId;
  }

  addMember(email: string, role: string): Expected {
    if ([...this.members.values()].some((member) => member.email === email)) return { status: 409 };
    return { status: 201, done: ({ id }) => this.members.set(id, { email, role }) };
  }

  changeRole(userId: string, role: string): Expected {
    const member = this.members.get(userId);
    if (!member) return { status: 404 };
    if (role !== "org:admin" && this.#isLastAdmin(userId)) return { status: 409 };
    return { status: 200, done: () => this.members.set(userId, { ...member, role }) };
  }

  removeMember(userId: string, disableKeys: boolean): Expected {
    if (!this.members.has(userId)) return { status: 404 };
    if (this.#isLastAdmin(userId)) return { status: 409 };
    const working = this.#workingKeys((key) => key.userId === userId);
    if (working.length > 0 && !disableKeys) return { status: 409 };
    return {
      status: 200,
      done: () => {
        this.members.delete(userId);
        for (const [id, key] of working) this.keys.set(id, { ...key, disabled: true });
        for (const id of this.workspaces.keys()) this.#changeMembers(id, (members) => members.delete(userId));
      },
    };
  }

  createWorkspace(slug: string, name: string): Expected {
    if (this.#hasSlug(slug)) return { status: 400 };
    const members = new Set([this.#ownerId]);
    return { status: 201, done: ({ id }) => this.workspaces.set(id, { slug, name, members }) };
  }

  updateWorkspace(id: string, slug: string, name: string): Expected {
    const workspace = this.workspaces.get(id);
    if (!workspace) return { status: 404 };
    if (slug !== workspace.slug && this.#hasSlug(slug)) return { status: 400 };
    return { status: 200, done: () => this.workspaces.set(id, { ...workspace, slug, name }) };
  }

  deleteWorkspace(id: string): Expected {
    if (!this.workspaces.has(id)) return { status: 404 };
    const isUsed = this.#workingKeys((key) => key.workspaceId === id).length > 0;
    if (id === this.#defaultId || isUsed) return { status: 400 };
    // Its keys remain, and are no longer listed.
    return { status: 200, done: () => this.workspaces.delete(id) };
  }

  addWorkspaceMember(id: string, userId: string): Expected {
    if (!this.workspaces.has(id)) return { status: 404 };
    if (!this.members.has(userId)) return { status: 400 };
    return { status: 200, done: () => this.#changeMembers(id, (members) => members.add(userId)) };
  }

  removeWorkspaceMember(id: string, userId: string): Expected {
    const workspace = this.workspaces.get(id);
    if (!workspace) return { status: 404 };
    if (id === this.#defaultId) return { status: 400 };
    if (!workspace.members.has(userId)) return { status: 200 };
    const working = this.#workingKeys((key) => key.workspaceId === id && key.userId === userId);
    if (working.length > 0) return { status: 400 };
    return { status: 200, done: () => this.#changeMembers(id, (members) => members.delete(userId)) };
  }

  createKey(name: string, workspaceId: string, userId: string): Expected {
    if (!this.workspaces.has(workspaceId) || !this.members.has(userId)) return { status: 400 };
    return { status: 201, done: ({ id }) => this.keys.set(id, { name, workspaceId, userId, disabled: false }) };
  }

  updateKey(id: string, update: { readonly name: string; readonly disabled: boolean }): Expected {
    const key = this.keys.get(id);
    if (!key) return { status: 404 };
    const canWork = this.members.has(key.userId) && this.workspaces.has(key.workspaceId);
    if (key.disabled && !update.disabled && !canWork) return { status: 409 };
    return { status: 200, done: () => this.keys.set(id, { ...key, ...update }) };
  }

  rotateKey(id: string): Expected {
    return { status: this.keys.has(id) ? 201 : 404 };
  }

  deleteKey(id: string): Expected {
    return this.keys.has(id) ? { status: 200, done: () => this.keys.delete(id) } : { status: 404 };
  }

  /** Whether nobody else is an admin. */
  #isLastAdmin(userId: string): boolean {
    return ![...this.members].some(([id, { role }]) => id !== userId && role === "org:admin");
  }

  #workingKeys(isMeant: (key: ModelKey) => boolean): [string, ModelKey][] {
    return [...this.keys].filter(([, key]) => !key.disabled && isMeant(key));
  }

  #hasSlug(slug: string): boolean {
    return [...this.workspaces.values()].some((workspace) => workspace.slug === slug);
  }

  #changeMembers(id: string, change: (members: Set<string>) => void): void {
    const workspace = this.workspaces.get(id);
    if (!workspace) return;
    const members = new Set(workspace.members);
    change(members);
    this.workspaces.set(id, { ...workspace, members });
  }
}
