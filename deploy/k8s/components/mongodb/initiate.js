// Runs in mongosh. The member's key is also the password of the user __system. Before the first user
// is created, it is the only credential.
const key = require("fs").readFileSync("/secret/keyfile", "utf8").replace(/\s/g, "");
const host = "mongodb:27017";

const asMember = (options) =>
  connect(`mongodb://__system:${encodeURIComponent(key)}@${host}/admin?authSource=local&authMechanism=SCRAM-SHA-256&${options}`);

const first = asMember("directConnection=true");
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
  first.adminCommand({ replSetInitiate: { _id: "rs0", members: [{ _id: 0, host }] } });
}

const admin = asMember("replicaSet=rs0");
const user = { pwd: process.env.PASSWORD, roles: [{ role: "readWrite", db: "waybook" }] };
if (admin.getUser("waybook")) {
  admin.updateUser("waybook", user);
} else {
  admin.createUser({ user: "waybook", ...user });
}
print("the replica set rs0 has the user waybook");
