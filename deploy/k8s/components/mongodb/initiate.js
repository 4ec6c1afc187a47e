// Runs in mongosh. The members' key is also the password of the user __system, with which
// they call each other. Before the first user is created, it is the only credential.
const key = require("fs").readFileSync("/secret/keyfile", "utf8").replace(/\s/g, "");
const members = [0, 1, 2].map((n) => `mongodb-${n}.mongodb:27017`);

const asMember = (hosts, options) =>
  connect(`mongodb://__system:${encodeURIComponent(key)}@${hosts}/admin?authSource=local&authMechanism=SCRAM-SHA-256&${options}`);

const first = asMember(members[0], "directConnection=true");
let initiated = true;
try {
  first.adminCommand({ replSetGetStatus: 1 });
} catch (error) {
  if (error.codeName !== "NotYetInitialized") {
    throw error;
  }
  initiated = false;
}
if (!initiated) {
  first.adminCommand({ replSetInitiate: { _id: "rs0", members: members.map((host, n) => ({ _id: n, host })) } });
}

const admin = asMember(members.join(","), "replicaSet=rs0");
const user = { pwd: process.env.PASSWORD, roles: [{ role: "readWrite", db: "waybook" }] };
if (admin.getUser("waybook")) {
  admin.updateUser("waybook", user);
} else {
  admin.createUser({ user: "waybook", ...user });
}
print("the replica set rs0 has the user waybook");
